-- An exact sliding window: the times of admission, in binary, each of 6 bytes: a time as a text of digits takes Redis
-- three times as long to read and to write. An entry counts for `window` ms.
--
--   state  blocks, how many times are the oldest, the oldest times, the newest times
--          in the record whose limit it is, which is read and written anyway
--   log    LIST  the times in between, the oldest first, in `blocks` full blocks of BLOCK_TIMES
--
-- Times leave the oldest ones and join the newest. Of the oldest that have become none, the next block takes the place;
-- the newest that have become a block go to the log. So most requests touch no log, and those of a few a minute never do.
local STATE, HEADER_AND_TIME, HEADER_BYTES = '>I4I1c0', '>I4I1I6', 5
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

-- A log may be gone before the record that counts on it: where the window was shorter when its life was set, or the
-- clock of the server was ahead for a while. What is missing counts no more. `pcall`, here and where the log is
-- written, since nothing about a log may keep a script from what it writes besides.
local function find_block(log, place)
  local block = redis.pcall('LINDEX', log, place)
  return type(block) == 'string' and #block == BLOCK_BYTES and block
end

-- The first block that still counts takes the place of the oldest times, of which none is left; it and all before it
-- are to be taken off the list.
local function take_block(read, log, now, window)
  local low, high, block = 0, read.blocks, find_block(log, 0)
  if block and now - struct.unpack(TIME, block, LAST_OF_BLOCK) >= window then
    -- A burst has expired.
    low = 1
    while low < high do
      local middle = math.floor((low + high) / 2)
      local found = find_block(log, middle)
      if found and now - struct.unpack(TIME, found, LAST_OF_BLOCK) >= window then low = middle + 1 else high = middle end
    end
    block = low < read.blocks and find_block(log, low)
  end
  if block then
    local expired = count_expired(block, 1, BLOCK_TIMES, now, window)
    read.times = string.sub(block, expired * TIME_BYTES + 1) .. read.times
    read.oldest = BLOCK_TIMES - expired
    low = low + 1
  else
    low = read.blocks
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

-- The time that came `index` places after the first one that counts; none where its block is gone.
local function find_time(read, prefix, id, index)
  local in_blocks = index - read.oldest
  if in_blocks >= 0 and in_blocks < read.blocks * BLOCK_TIMES then
    local place = read.dropped + math.floor(in_blocks / BLOCK_TIMES)
    local block = find_block(log_name(prefix, id), place)
    return block and (struct.unpack(TIME, block, in_blocks % BLOCK_TIMES * TIME_BYTES + 1))
  end
  if in_blocks >= 0 then index = index - read.blocks * BLOCK_TIMES end
  return (struct.unpack(TIME, read.times, index * TIME_BYTES + 1))
end

-- Says how many requests count now, and when all have expired. Changes nothing. A limit of 0 is none. `times` are those
-- that count and stand in the record, the first `oldest` of them older than the blocks.
local function read_window(prefix, id, state, limit, now, window)
  local read = { count = 0, reset = 0, dropped = 0, blocks = 0, oldest = 0, times = '', last = 0, former = 0 }
  if limit <= 0 or not state then return read end
  local blocks, oldest, first = struct.unpack(HEADER_AND_TIME, state)
  local last = struct.unpack(TIME, state, #state - TIME_BYTES + 1)
  if now - last >= window or last - now > window then
    -- Nothing counts. Where the clock of a new master is far behind, what the old one noted says nothing.
    read.dropped = blocks
    return read
  end
  read.blocks, read.oldest, read.last, read.former = blocks, oldest, last, last
  if now - first >= window then
    drop_expired(read, state, prefix, id, now, window)
  else
    read.times = string.sub(state, HEADER_BYTES + 1)
  end
  read.count = #read.times / TIME_BYTES + read.blocks * BLOCK_TIMES
  read.reset = math.min(last + window - now, window)
  return read
end

-- How long the next request has to wait, where as many count as may; 0 where some of them are gone.
local function find_wait(read, prefix, id, limit, now, window)
  local time = find_time(read, prefix, id, read.count - limit)
  -- A clock that went back a little would make it longer than any wait can be.
  if time then return math.min(time + window - now, window) end
  read.count = read.count - read.blocks * BLOCK_TIMES
  read.dropped, read.blocks = read.dropped + read.blocks, 0
  return read.count < limit and 0 or find_wait(read, prefix, id, limit, now, window)
end

-- Takes a place in what `read_window` has read. Times never go backwards, whatever the clock does.
local function take_place(read, now, window)
  read.last = math.max(now, read.last)
  read.times = read.times .. struct.pack(TIME, read.last)
  read.count, read.reset = read.count + 1, window
end

-- Follows `take_place`, once, in the same script: writes the log, and answers the new state. Once in each window of the
-- calendar is enough for the log's life: the last entry that is added without it counts to the end of the next one, and
-- a time may be one window ahead of the clock.
local function write_window(read, prefix, id, now, window)
  local blocks, oldest, times = read.blocks, read.oldest, read.times
  if read.dropped > 0 then
    local log = log_name(prefix, id)
    if blocks == 0 then redis.call('DEL', log) else redis.pcall('LTRIM', log, whole(read.dropped), '-1') end
  end
  local newest_from = oldest * TIME_BYTES + 1
  local is_new = false
  while #times - newest_from >= BLOCK_BYTES do
    if oldest == 0 then
      oldest, newest_from = BLOCK_TIMES, BLOCK_BYTES + 1
    else
      local block_end = newest_from + BLOCK_BYTES - 1
      -- Counted by the list itself: blocks that are gone do not come back.
      local length = redis.pcall('RPUSH', log_name(prefix, id), string.sub(times, newest_from, block_end))
      blocks = tonumber(length) or 0
      times = string.sub(times, 1, newest_from - 1) .. string.sub(times, block_end + 1)
      is_new = is_new or blocks == 1
    end
  end
  if is_new or blocks > 0 and read.former - read.former % window ~= now - now % window then
    redis.call('PEXPIRE', log_name(prefix, id), 3 * window)
  end
  return struct.pack(STATE, blocks, oldest, times)
end

-- A plan that this version does not know gets the smallest.
local function limit_of(plan, starter, pro, business, team)
  return plan == 'pro' and pro or plan == 'business' and business or plan == 'team' and team or starter
end
