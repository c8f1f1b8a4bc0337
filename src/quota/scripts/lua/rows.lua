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
local LATER = '<ddd'

-- What a request counts, by unit. In capitals are the units of limits that only warn.
local function by_unit(requests, input, output, micros)
  local tokens = input + output
  return { r = requests, t = tokens, i = input, o = output, c = micros,
    R = requests, T = tokens, I = input, O = output, C = micros }
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
