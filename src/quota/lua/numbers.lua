-- Numbers as text, and time. Money is whole micro-credits below 2^53; `tostring` would round them to 14 digits.

-- Adding 0 turns -0 into 0, which Redis would not take for a number.
local function whole(number)
  return string.format('%.0f', number + 0)
end

-- A field that is absent counts as 0.
local function number(text)
  return tonumber(text or '0') or 0
end

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Milliseconds since the epoch to the UTC month, 'yyyymm' (days to civil date, counted from 0000-03-01).
local function month_of(ms)
  local day = math.floor(ms / 86400000) + 719468
  local era = math.floor(day / 146097)
  local day_of_era = day - era * 146097
  local year_of_era = math.floor((day_of_era - math.floor(day_of_era / 1460)
    + math.floor(day_of_era / 36524) - math.floor(day_of_era / 146096)) / 365)
  local day_of_year = day_of_era
    - (365 * year_of_era + math.floor(year_of_era / 4) - math.floor(year_of_era / 100))
  local month_from_march = math.floor((5 * day_of_year + 2) / 153)
  local month = month_from_march < 10 and month_from_march + 3 or month_from_march - 9
  local year = year_of_era + era * 400 + (month <= 2 and 1 or 0)
  return whole(year * 100 + month)
end
