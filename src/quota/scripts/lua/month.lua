-- Turns milliseconds since the epoch into the UTC month, 'yyyymm'. It counts quarters of days from
-- 0000-03-01, since a year has 365 days and a quarter (C. Neri and L. Schneider, "Euclidean affine
-- functions"). `a - a % b` rounds down.
local function month_of(ms)
  local quarters = (ms - ms % 86400000) / 21600000 + 2877875
  local of_century = quarters % 146097
  local from_century = of_century - of_century % 4 + 3
  local of_year = from_century % 1461
  local fifths = (of_year - of_year % 4) / 4 * 5 + 461
  local month = (fifths - fifths % 153) / 153
  local year = (quarters - of_century) / 146097 * 100 + (from_century - of_year) / 1461
  if month > 12 then year, month = year + 1, month - 12 end
  return whole(year * 100 + month)
end
