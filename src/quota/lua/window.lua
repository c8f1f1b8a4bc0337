-- An exact sliding window: the times of admission, in binary, each of 6 bytes: a time as a text of digits takes Redis
-- three times as long to read and to write. An entry counts for `window` ms.
--
--   state  blocks, how many times are the oldest, the oldest times, the newest times
--          in the record whose limit it is, which is read and written anyway
--   log    LIST  the times in between, the oldest first, in `blocks` full blocks of BLOCK_TIMES
--
-- Times leave the oldest ones and join the newest. Of the oldest that have become none, the next block takes the place;
-- the newest that have become a block go to the log. So most requests touch no log, and those of a few a minute never do.
local HEADER, HEADER_BYTES = '>I4I1', 5
local TIME, TIME_BYTES = '>I6', 6
local BLOCK_TIMES = 8
local BLOCK_BYTES = BLOCK_TIMES * TIME_BYTES

local function time_at(times, index)
  return (struct.unpack(TIME, times, index * TIME_BYTES + 1))
end

-- The times of a block that still count.
local function skip_expired(times, now, window)
  local index, count = 0, #times / TIME_BYTES
  while index < count and now - time_at(times, index) >= window do index = index + 1 end
  return index == 0 and times or string.sub(times, index * TIME_BYTES + 1)
end

-- How many blocks of the list have expired, each as a whole.
local function count_expired(log, blocks, now, window)
  local low, high = 0, blocks
  while low < high do
    local middle = math.floor((low + high) / 2)
    local last = time_at(redis.call('LINDEX', log, middle), BLOCK_TIMES - 1)
    if now - last >= window then low = middle + 1 else high = middle end
  end
  return low
end

-- Leaves out what has expired. `dropped` blocks are to be taken off the list.
local function drop_expired(read, log, now, window)
  read.oldest = skip_expired(read.oldest, now, window)
  if read.oldest ~= '' then return end
  local block = read.blocks > 0 and redis.call('LINDEX', log, 0)
  if block and now - time_at(block, BLOCK_TIMES - 1) >= window then
    -- A burst has expired.
    read.dropped = count_expired(log, read.blocks, now, window)
    read.blocks = read.blocks - read.dropped
    block = read.blocks > 0 and redis.call('LINDEX', log, read.dropped)
  end
  if block then
    read.oldest = skip_expired(block, now, window)
    read.dropped, read.blocks = read.dropped + 1, read.blocks - 1
  else
    read.newest = skip_expired(read.newest, now, window)
  end
end

-- The time that came `index` places after the first one that counts.
local function find_time(read, log, index)
  local oldest_count = #read.oldest / TIME_BYTES
  if index < oldest_count then return time_at(read.oldest, index) end
  index = index - oldest_count
  if index >= read.blocks * BLOCK_TIMES then return time_at(read.newest, index - read.blocks * BLOCK_TIMES) end
  local block = redis.call('LINDEX', log, read.dropped + math.floor(index / BLOCK_TIMES))
  return time_at(block, index % BLOCK_TIMES)
end

-- Says how many requests count now, how long the next one has to wait, and when all have expired. Changes nothing.
-- A limit of 0 is none.
local function read_window(log, state, limit, now, window)
  local read = { count = 0, wait = 0, reset = 0, dropped = 0, blocks = 0, oldest = '', newest = '' }
  if limit <= 0 or not state then return read end
  local blocks, oldest_count = struct.unpack(HEADER, state)
  local last = struct.unpack(TIME, state, #state - TIME_BYTES + 1)
  read.blocks = blocks
  if now - last >= window or last - now > window then
    -- Nothing counts. Where the clock of a new master is far behind, what the old one noted says nothing.
    read.dropped, read.blocks = read.blocks, 0
    return read
  end
  local newest_from = HEADER_BYTES + oldest_count * TIME_BYTES + 1
  read.oldest = string.sub(state, HEADER_BYTES + 1, newest_from - 1)
  read.newest, read.last = string.sub(state, newest_from), last
  drop_expired(read, log, now, window)
  local count = (#read.oldest + #read.newest) / TIME_BYTES + read.blocks * BLOCK_TIMES
  if count >= limit then
    -- A clock that went back a little would make it longer than any wait can be.
    read.wait = math.min(find_time(read, log, count - limit) + window - now, window)
  end
  read.count, read.reset = count, math.min(last + window - now, window)
  return read
end

-- Follows `read_window` in the same script, with what that has read; answers the new state. Times never go backwards,
-- whatever the clock does. Once in each window of the calendar is enough for the log's life: the last entry that is
-- added without it counts to the end of the next one, and a time may be one window ahead of the clock.
local function take_place(log, now, window, read)
  local blocks, oldest, newest = read.blocks, read.oldest, read.newest
  local time = math.max(now, read.last or 0)
  if read.dropped > 0 then
    if blocks == 0 then redis.call('DEL', log) else redis.call('LTRIM', log, read.dropped, -1) end
  end
  local is_new = false
  if #newest == BLOCK_BYTES then
    if oldest == '' then
      oldest = newest
    else
      redis.call('RPUSH', log, newest)
      blocks = blocks + 1
      is_new = blocks == 1
    end
    newest = ''
  end
  if is_new or blocks > 0 and math.floor(read.last / window) ~= math.floor(now / window) then
    redis.call('PEXPIRE', log, 3 * window)
  end
  return struct.pack(HEADER, blocks, #oldest / TIME_BYTES) .. oldest .. newest .. struct.pack(TIME, time)
end

-- A plan that this version does not know gets the smallest.
local function limit_of(plan, plan_limits)
  local _, last = string.find(plan_limits, ',' .. (plan or '') .. '=', 1, true)
  if not last then _, last = string.find(plan_limits, ',starter=', 1, true) end
  return string.match(plan_limits, '^%d+', last + 1) + 0
end
