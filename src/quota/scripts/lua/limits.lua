-- Opens, holds in and writes the lists of limits that `rows.lua` describes.

-- Returns when the subject was last seen: time never goes backwards for a subject. A clock that is
-- far behind that is believed, as if nothing had been seen.
local function last_seen(use, now)
  local CLOCK_BEHIND_MAX = 60000
  local last = struct.unpack('<d', use)
  return last - now <= CLOCK_BEHIND_MAX and last or 0
end

-- Makes the state of a list that is new or was changed, with what is known of each limit. If two
-- limits that block have one unit and one window, such as that of a plan and that of an account,
-- the lower one holds. A limit that only warned goes on with what it has counted when it blocks,
-- and the other way round; but the times of requests that block are no slices.
local function convert_state(list, use, at)
  local rows, order, codes = {}, {}, { d = 1, w = 2, m = 3 }
  for unit, window, amount, action in string.gmatch(list, '(%a),(%w+),(%d+),(%a);') do
    unit = action == 'b' and unit or string.upper(unit)
    window, amount = codes[window] or window + 0, amount + 0
    local code = unit .. window
    if rows[code] then
      rows[code][1] = math.min(rows[code][1], amount)
    else
      rows[code] = { amount, struct.pack(ROW, unit, window, amount, 0, 0, 0, 0, at, 0), '' }
      order[#order + 1] = code
    end
  end
  local from = use and STATE_BYTES + 1 + select(2, struct.unpack(STATE, use)) or 1
  while use and from <= #use do
    local unit, window, _, _, _, _, _, _, bytes = struct.unpack(ROW, use, from)
    local other = unit >= 'a' and string.upper(unit) or string.lower(unit)
    local is_same = window < 4 or string.lower(unit) ~= 'r'
    for _, of in ipairs({ unit, is_same and other or nil }) do
      local row = rows[of .. window]
      if row and (of == unit or not row.is_own) then
        row.is_own = of == unit
        row[2] = of .. string.sub(use, from + 1, from + ROW_BYTES - 1)
        row[3] = string.sub(use, from + ROW_BYTES, from + ROW_BYTES + bytes - 1)
      end
    end
    from = from + ROW_BYTES + bytes
  end
  local parts = { struct.pack(STATE, use and struct.unpack('<d', use) or 0, #list), list }
  for _, code in ipairs(order) do
    local amount, row, slices = unpack(rows[code])
    local AMOUNT_AT = 10
    parts[#parts + 1] = string.sub(row, 1, AMOUNT_AT - 1) .. struct.pack('<d', amount) .. string.sub(row, AMOUNT_AT + 8)
    parts[#parts + 1] = slices
  end
  return table.concat(parts)
end

-- Moves a limit of the calendar to the period that begins at `start`. Returns head, counted, held,
-- since and slices.
local function move_period(start, head, counted, held, since, slices, now)
  local HOUR_MS = 3600000
  if head < start then
    if slices ~= '' then
      local later, later_counted, later_held = struct.unpack(LATER, slices)
      if later == start then return start, later_counted, later_held, since, '' end
    end
    return start, 0, 0, since, ''
  end
  -- A clock that was ahead has seen a later period. What it counted there counts in this one; what
  -- this one had counted before is lost. The later one goes on from there if it comes within the
  -- hour. If it comes next but not so soon, it begins with those that are still running then.
  local later_counted = head - now > HOUR_MS and held or counted
  return start, counted, held, now, struct.pack(LATER, head, later_counted, held)
end

-- Adds the limits of a subject to `limits`, as they are at a moment. `periods` has start and end of
-- the day, the week and the month.
local function open_limits(limits, subject, use, now, periods)
  local count, from = #limits, STATE_BYTES + 1 + #subject.list
  local bytes_of_use = #use
  while from <= bytes_of_use do
    local unit, window, amount, head, counted, current, held, since, slices, next_from =
      struct.unpack(ROW_AND_SLICES, use, from)
    local times
    from = next_from
    -- If the clock was ahead when the limit began to count, it would not be corrected for a long
    -- time.
    if since > now then since = now end
    if window < 4 then
      local start = periods(window, now)
      if head ~= start then
        head, counted, held, since, slices = move_period(start, head, counted, held, since, slices, now)
      end
    elseif unit == 'r' then
      times = read_window(subject.prefix, subject.id .. ':' .. window, slices ~= '' and slices or nil,
        math.max(1, amount), now, window)
      counted = times.count
    else
      local slice = now * SLICES / window
      slice = slice - slice % 1
      if slice ~= head then
        counted, current, slices = advance(slice, head, counted, current, slices)
        head = slice
      end
    end
    count = count + 1
    limits[count] = { unit, window, amount, head, counted, current, held, since, slices, subject, times }
  end
end

-- Counts an admission and what it holds, by unit.
local function hold_in_limits(limits, amounts, now)
  for index = 1, #limits do
    local limit = limits[index]
    local amount, times, before = amounts[limit[1]], limit[11], limit[5]
    if times then
      take_place(times, now, limit[2])
      limit[5] = times.count
    else
      limit[5], limit[6], limit[7] = before + amount, limit[6] + amount, limit[7] + amount
    end
    if limit[5] >= limit[3] * warn_at then
      note_crossing(limit[10].level, limit[10].id, limit[1], limit[2], limit[3], before, limit[5], limit[7], now)
    end
  end
end

-- Returns the state of a subject as one text. `life` is that of an end user.
local function encode_state(limits, subject, now, life)
  local list = subject.list
  local parts = { struct.pack(STATE, now, #list), list }
  for index = 1, #limits do
    if limits[index][10] == subject then
      local unit, window, amount, head, counted, current, held, since, slices, _, times = unpack(limits[index])
      if times then slices = write_window(times, subject.prefix, subject.id .. ':' .. window, now, window, life) end
      parts[#parts + 1] =
        struct.pack(ROW_AND_SLICES, unit, window, amount, head, counted, current, held, since, #slices, slices)
    end
  end
  return table.concat(parts)
end
