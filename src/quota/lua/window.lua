-- An exact sliding window: the times of admission, in binary, each of 6 bytes: a time as a text of digits takes Redis
-- three times as long to read and to write. An entry counts for `window` ms.
--
--   state  blocks, how many times are the oldest, the oldest times, the newest times
--          in the record whose limit it is, which is read and written anyway
--   log    LIST  the times in between, the oldest first, in `blocks` full blocks of BLOCK_TIMES
--
-- Times leave the oldest ones and join the newest. Of the oldest that have become none, the next block takes the place;
-- the newest that have become a block go to the log. So most requests touch no log, and those of a few a minute never do.
local STATE, HEADER_AND_TIME, HEADER_BYTES = '>I4I1c0I6', '>I4I1I6', 5
local TIME, TIME_BYTES = '>I6', 6
local BLOCK_TIMES = 8
local BLOCK_BYTES = BLOCK_TIMES * TIME_BYTES
local LAST_OF_BLOCK = BLOCK_BYTES - TIME_BYTES + 1

-- How many of the `count` times from the byte `at` on count no more.
local function count_expired(times, at, count, now, window)
  local expired = 0
  while expired < count and now - struct.unpack(TIME, times, at + expired * TIME_BYTES) >= window do
    expired = expired + 1
  end
  return expired
end

-- The first block that still counts takes the place of the oldest times, of which none is left; it and all before it
-- are to be taken off the list.
local function take_block(read, log, now, window)
  local low, high, block = 0, read.blocks, redis.call('LINDEX', log, '0')
  if block and now - struct.unpack(TIME, block, LAST_OF_BLOCK) >= window then
    -- A burst has expired.
    low = 1
    while low < high do
      local middle = math.floor((low + high) / 2)
      local last = struct.unpack(TIME, redis.call('LINDEX', log, middle), LAST_OF_BLOCK)
      if now - last >= window then low = middle + 1 else high = middle end
    end
    block = low < read.blocks and redis.call('LINDEX', log, low)
  end
  if block then
    local expired = count_expired(block, 1, BLOCK_TIMES, now, window)
    read.times = string.sub(block, expired * TIME_BYTES + 1) .. read.times
    read.oldest = BLOCK_TIMES - expired
    low = low + 1
  end
  read.dropped, read.blocks = low, read.blocks - low
end

-- Leaves out what has expired: at least the first time.
local function drop_expired(read, state, prefix, id, now, window)
  local at, oldest = HEADER_BYTES + 1, read.oldest
  local expired = count_expired(state, at, oldest, now, window)
  read.oldest, at = oldest - expired, at + expired * TIME_BYTES
  read.times = string.sub(state, at)
  if read.oldest == 0 and read.blocks > 0 then take_block(read, log_name(prefix, id), now, window) end
  if read.oldest > 0 then return end
  expired = count_expired(read.times, 1, #read.times / TIME_BYTES, now, window)
  read.times = string.sub(read.times, expired * TIME_BYTES + 1)
end

-- The time that came `index` places after the first one that counts.
local function find_time(read, prefix, id, index)
  local in_blocks = index - read.oldest
  if in_blocks >= 0 and in_blocks < read.blocks * BLOCK_TIMES then
    local place = read.dropped + math.floor(in_blocks / BLOCK_TIMES)
    local block = redis.call('LINDEX', log_name(prefix, id), place)
    return (struct.unpack(TIME, block, in_blocks % BLOCK_TIMES * TIME_BYTES + 1))
  end
  if in_blocks >= 0 then index = index - read.blocks * BLOCK_TIMES end
  return (struct.unpack(TIME, read.times, index * TIME_BYTES + 1))
end

-- Says how many requests count now, how long the next one has to wait, and when all have expired. Changes nothing.
-- A limit of 0 is none. `times` are those that count and stand in the record, the first `oldest` of them older than the
-- blocks.
local function read_window(prefix, id, state, limit, now, window)
  local read = { count = 0, wait = 0, reset = 0, dropped = 0, blocks = 0, oldest = 0, times = '', last = 0 }
  if limit <= 0 or not state then return read end
  local blocks, oldest, first = struct.unpack(HEADER_AND_TIME, state)
  local last = struct.unpack(TIME, state, #state - TIME_BYTES + 1)
  if now - last >= window or last - now > window then
    -- Nothing counts. Where the clock of a new master is far behind, what the old one noted says nothing.
    read.dropped = blocks
    return read
  end
  read.blocks, read.oldest, read.last = blocks, oldest, last
  if now - first >= window then
    drop_expired(read, state, prefix, id, now, window)
  else
    read.times = string.sub(state, HEADER_BYTES + 1)
  end
  local count = #read.times / TIME_BYTES + read.blocks * BLOCK_TIMES
  if count >= limit then
    -- A clock that went back a little would make it longer than any wait can be.
    read.wait = math.min(find_time(read, prefix, id, count - limit) + window - now, window)
  end
  read.count, read.reset = count, math.min(last + window - now, window)
  return read
end

-- Follows `read_window` in the same script, with what that has read; answers the new state. Times never go backwards,
-- whatever the clock does. Once in each window of the calendar is enough for the log's life: the last entry that is
-- added without it counts to the end of the next one, and a time may be one window ahead of the clock.
local function take_place(prefix, id, now, window, read)
  local blocks, oldest, times, last = read.blocks, read.oldest, read.times, read.last
  local time = math.max(now, last)
  if read.dropped > 0 then
    local log = log_name(prefix, id)
    if blocks == 0 then redis.call('DEL', log) else redis.call('LTRIM', log, whole(read.dropped), '-1') end
  end
  local is_new = false
  if #times - oldest * TIME_BYTES == BLOCK_BYTES then
    if oldest == 0 then
      oldest = BLOCK_TIMES
    else
      redis.call('RPUSH', log_name(prefix, id), string.sub(times, -BLOCK_BYTES))
      times = string.sub(times, 1, -BLOCK_BYTES - 1)
      blocks = blocks + 1
      is_new = blocks == 1
    end
  end
  if is_new or blocks > 0 and last - last % window ~= now - now % window then
    redis.call('PEXPIRE', log_name(prefix, id), 3 * window)
  end
  return struct.pack(STATE, blocks, oldest, times, time)
end

-- A plan that this version does not know gets the smallest.
local function limit_of(plan, starter, pro, business, team)
  return plan == 'pro' and pro or plan == 'business' and business or plan == 'team' and team or starter
end
