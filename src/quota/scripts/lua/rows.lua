-- Limits as a list. A subject (a key, an end user, a group, an account) may have several, each of a
-- unit and a window. The list is a text, `unit,window,amount,action;` for each limit:
--
--   unit    r requests, t tokens, i input tokens, o output tokens, c micro-credits
--   window  milliseconds for a rolling one; d, w, m for a day, a week, a month by the UTC calendar
--   action  b blocks, w only warns
--
-- `use` is the state of all limits of a subject, one text in its record: when it was last seen, the
-- list, and a row for each limit. A row is these values, packed as ROW, and the slices:
--
--   1 unit     a capital if the limit only warns
--   2 window   milliseconds; 1, 2, 3 for d, w, m
--   3 amount
--   4 head     number of the newest slice, or the start of the period
--   5 counted  what was used and what running requests hold, in all slices or in the period
--   6 current  the part of it in the newest slice
--   7 held     the part of it that running requests hold
--   8 since    when the limit began to count: what was admitted before is not in it
--   9 slices   the older slices that are not empty, oldest first, each packed as SLICE: the last
--              byte of its number, and its amount; for requests that block, times of `window.lua`;
--              of d, w, m nothing, or a later period that a clock was ahead for, packed as LATER:
--              its start, and what it has counted and held
--
-- In a script a limit is a list of these values, since a table with names costs four times as much;
-- then come 10 its subject and 11 the times that were read.
--
-- `counted` never passes the amount of a limit that blocks. A rolling window has 60 slices. The
-- newest one, which has just begun, and the 60 before it count. So no stretch of a window's length
-- ever has more than the amount, and what was used counts for at most one slice too long.
local STATE, STATE_BYTES = '<dI2', 10
local ROW, ROW_BYTES, ROW_AND_SLICES = '<c1dddddddI2', 59, '<c1dddddddI2c0'
local SLICE, SLICE_BYTES, SLICES = '<Bd', 9, 60
local LATER, LATER_BYTES = '<ddd', 24

-- What a request counts, by unit. In capitals are the units of limits that only warn.
local function by_unit(requests, input, output, micros)
  local tokens = input + output
  return { r = requests, t = tokens, i = input, o = output, c = micros,
    R = requests, T = tokens, I = input, O = output, C = micros }
end

-- Returns the state that a record has. One that nobody can read, since it was damaged or has the
-- form of another version, is as good as none: a request must end, and be charged, all the same.
local function read_state(name)
  local use = read_field(name, 'use')
  if not use or #use < STATE_BYTES then return end
  local from, row_from_max = STATE_BYTES + 1 + select(2, struct.unpack(STATE, use)), #use - ROW_BYTES + 1
  while from <= row_from_max do
    local unit, window, _, _, _, _, _, _, bytes = struct.unpack(ROW, use, from)
    local bytes_of_each = window < 4 and LATER_BYTES or unit ~= 'r' and SLICE_BYTES or 1
    if not string.find('rtiocRTIOC', unit, 1, true) or bytes % bytes_of_each > 0 then return end
    from = from + ROW_BYTES + bytes
  end
  return from == #use + 1 and use or nil
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

-- Moves a rolling window on to a slice. Slices of a clock that was ahead become the newest one.
-- Returns counted, current and slices.
local function advance(slice, head, counted, current, slices)
  if slice < head then return counted, counted, '' end
  if slice - head > SLICES then return 0, 0, '' end
  if current > 0 then slices = slices .. struct.pack(SLICE, head % 256, current) end
  local from, bytes = 1, #slices
  while from <= bytes do
    local low, amount = struct.unpack(SLICE, slices, from)
    if slice - head + (head - low) % 256 <= SLICES then break end
    counted, from = counted - amount, from + SLICE_BYTES
  end
  return counted, 0, from > 1 and string.sub(slices, from) or slices
end
