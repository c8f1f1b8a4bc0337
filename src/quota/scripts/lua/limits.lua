-- Opens, holds in and writes the lists of limits that `rows.lua` describes.

-- Returns when the subject was last seen: time never goes backwards for a subject. A clock that is
-- far behind that is believed, as if nothing had been seen.
local function last_seen(use, now)
  local CLOCK_BEHIND_MAX = 60000
  local last = struct.unpack('<d', use)
  return last - now <= CLOCK_BEHIND_MAX and last or 0
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
