-- Returns the first millisecond of the UTC day (1), week (2) or month (3) that a moment is in, and
-- that of the next one. A week begins on Monday, as 1970-01-05 was. Months are counted as in
-- `month.lua`. What was found last is kept, since most limits of a request ask for the same.
local known_ms, known = nil, nil
local function periods(window, ms)
  if known_ms ~= ms then known_ms, known = ms, {} end
  local found = known[window]
  if found then return found[1], found[2] end
  local DAY, WEEK, MONDAY, MORE_THAN_A_MONTH = 86400000, 604800000, 345600000, 2764800000
  local start = ms - ms % DAY
  local next_start = start + DAY
  if window == 2 then
    start = start - (start - MONDAY) % WEEK
    next_start = start + WEEK
  elseif window == 3 then
    local function month_start(day)
      local of_century = (day / 21600000 + 2877875) % 146097
      local of_year = (of_century - of_century % 4 + 3) % 1461
      local fifths = ((of_year - of_year % 4) / 4 * 5 + 461) % 153
      return day - (fifths - fifths % 5) / 5 * DAY
    end
    start = month_start(start)
    next_start = month_start(start + MORE_THAN_A_MONTH)
  end
  known[window] = { start, next_start }
  return start, next_start
end
