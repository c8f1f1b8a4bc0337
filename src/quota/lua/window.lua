-- An exact sliding window: the times of admission in a LIST, newest first. An entry counts for `window` ms.

-- Index of the first entry that no longer counts; entries before it do.
local function find_expired(log, now, window)
  local low, high = 0, redis.call('LLEN', log)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if now - redis.call('LINDEX', log, middle) >= window then high = middle else low = middle + 1 end
  end
  return low
end

-- Usually as many expire as are added; what a burst left behind is cut off at once.
local function drop_expired(log, now, window)
  for _ = 1, 2 do
    local oldest = redis.call('LINDEX', log, -1)
    if not oldest or now - oldest < window then return end
    redis.call('RPOP', log)
  end
  local expired = find_expired(log, now, window)
  if expired == 0 then redis.call('DEL', log) else redis.call('LTRIM', log, 0, expired - 1) end
end

-- Says how many requests count now, how long the next one has to wait, and when all have expired.
-- A limit of 0 is none.
local function read_window(log, limit, now, window)
  if limit <= 0 then return { count = 0, wait = 0, reset = 0 } end
  local newest = tonumber(redis.call('LINDEX', log, 0) or '')
  if newest and newest - now > window then
    -- The clock of a new master is far behind: what the old one noted says nothing.
    redis.call('DEL', log)
    newest = nil
  end
  if not newest then return { count = 0, wait = 0, reset = 0 } end
  drop_expired(log, now, window)
  local count, wait = redis.call('LLEN', log), 0
  if count >= limit then
    -- A clock that went back a little would make it longer than any wait can be.
    wait = math.min(redis.call('LINDEX', log, limit - 1) + window - now, window)
  end
  return {
    count = count,
    wait = wait,
    reset = count > 0 and math.min(newest + window - now, window) or 0,
    newest = newest,
  }
end

-- Follows `read_window` in the same script, with what that has read. Times never go backwards in a log, whatever
-- the clock does. Once in each window of the calendar is enough for its life: the last entry that is added
-- without it counts to the end of the next one, and a time may be one window ahead of the clock.
local function take_place(log, limit, now, window, read)
  if limit <= 0 then return end
  redis.call('LPUSH', log, whole(math.max(now, read.newest or 0)))
  if not read.newest or math.floor(read.newest / window) ~= math.floor(now / window) then
    redis.call('PEXPIRE', log, 3 * window)
  end
end

-- How many requests count now, and when all have expired; changes nothing.
local function peek_window(log, limit, now, window)
  local newest = limit > 0 and redis.call('LINDEX', log, 0)
  if not newest or newest - now > window then return 0, 0 end
  local count = find_expired(log, now, window)
  return count, count > 0 and math.min(newest + window - now, window) or 0
end

-- A plan that this version does not know gets the smallest.
local function limit_of(plan, plan_limits)
  local _, last = string.find(plan_limits, ',' .. (plan or '') .. '=', 1, true)
  if not last then _, last = string.find(plan_limits, ',starter=', 1, true) end
  return string.match(plan_limits, '^%d+', last + 1)
end
