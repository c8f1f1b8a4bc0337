-- The clock is that of Redis, in milliseconds since the epoch.

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
