-- An exact sliding window is a list of the times of admission. A time counts for `window` ms. It is
-- 6 binary bytes: Redis takes three times as long to read and write a time in digits. The times
-- stand in two places:
--
--   state  a field of the record that has the limit; the record is read and written anyway
--          the number of blocks in the log, how many times are the oldest, the oldest times,
--          the newest times
--   log    LIST  the times in between, oldest first, in full blocks of BLOCK_TIMES
--
-- A new time joins the newest ones. Times expire among the oldest ones. When all of those have
-- expired, the next block takes their place. When the newest ones fill a block, the block goes to
-- the log. So most requests touch no log, and a key with a few requests a minute has none.
local HEADER_BYTES = 5
local TIME, TIME_BYTES = '>I6', 6
local BLOCK_TIMES = 8
local BLOCK_BYTES = BLOCK_TIMES * TIME_BYTES

-- Returns how many of the `count` times from byte `at` on have expired.
local function count_expired(times, at, count, now, window)
  local expired = 0
  while expired < count and now - struct.unpack(TIME, times, at + expired * TIME_BYTES) >= window do
    expired = expired + 1
  end
  return expired
end

-- A log may be gone while its record still counts on it: the window was shorter when the log's life
-- was set, or the clock of the server was ahead for a while. Missing times count as expired. It is
-- `pcall`, here and where the log is written, because a log must not keep a script from its other
-- writes.
local function find_block(log, place)
  local block = redis.pcall('LINDEX', log, place)
  return type(block) == 'string' and #block == BLOCK_BYTES and block
end

-- Call it when no oldest time is left. The first block that still counts takes their place.
-- `write_window` takes that block and all before it off the log.
local function take_block(read, log, now, window)
  local LAST_OF_BLOCK = BLOCK_BYTES - TIME_BYTES + 1
  local low, high, block = 0, read.blocks, find_block(log, 0)
  if block and now - struct.unpack(TIME, block, LAST_OF_BLOCK) >= window then
    -- All of the first block has expired, perhaps many more after a burst: the search halves the
    -- rest each time.
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

-- Leaves out the expired times. The first time must be one of them.
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

-- Returns the time that came `index` places after the first one that counts, or nothing if its
-- block is gone.
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

-- Returns how many requests count now, and in how many ms all will have expired (`reset`). It
-- changes nothing. A limit of 0 means no limit. `times` are the times of the record that count; the
-- first `oldest` of them precede the log.
local function read_window(prefix, id, state, limit, now, window)
  local read = { count = 0, reset = 0, dropped = 0, blocks = 0, oldest = 0, times = '', last = 0, former = 0 }
  if limit <= 0 or not state then return read end
  local blocks, oldest, first = struct.unpack('>I4I1I6', state)
  local last = struct.unpack(TIME, state, #state - TIME_BYTES + 1)
  if now - last >= window or last - now > window then
    -- Nothing counts. If the clock of a new master is far behind, the times of the old one say
    -- nothing.
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
  read.reset = last > now and window or last + window - now
  return read
end

-- Returns how long the next request has to wait. Call it when the limit is reached. The wait is 0
-- if enough of the times turn out to be gone.
local function find_wait(read, prefix, id, limit, now, window)
  local time = find_time(read, prefix, id, read.count - limit)
  -- After a clock went back a little, a time is ahead of it. No wait is longer than the window.
  if time then return math.min(time + window - now, window) end
  read.count = read.count - read.blocks * BLOCK_TIMES
  read.dropped, read.blocks = read.dropped + read.blocks, 0
  return read.count < limit and 0 or find_wait(read, prefix, id, limit, now, window)
end

-- Takes a place in what `read_window` returned. Times never go backwards, whatever the clock does.
local function take_place(read, now, window)
  if now > read.last then read.last = now end
  read.times = read.times .. struct.pack(TIME, read.last)
  read.count, read.reset = read.count + 1, window
end

-- Writes the log and returns the new state. Call it once, after the last `take_place` of the
-- script. The calendar is divided into windows, and the life of the log is renewed once in each.
-- That is enough: a time that is added after the renewal counts to the end of the next window at
-- most, and it may be one window ahead of the clock. With a `life`, the log lives on for that long.
local function write_window(read, prefix, id, now, window, life)
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
      -- An earlier record of the same name, such as that of an end user who was forgotten, may have
      -- left its log.
      if blocks == 0 and read.dropped == 0 then redis.call('DEL', log_name(prefix, id)) end
      local block_end = newest_from + BLOCK_BYTES - 1
      -- The list itself counts its blocks, since some may be gone.
      local length = redis.pcall('RPUSH', log_name(prefix, id), string.sub(times, newest_from, block_end))
      blocks = tonumber(length) or 0
      times = string.sub(times, 1, newest_from - 1) .. string.sub(times, block_end + 1)
      is_new = is_new or blocks == 1
    end
  end
  if life then
    if blocks > 0 then redis.call('PEXPIRE', log_name(prefix, id), whole(life)) end
  elseif is_new or blocks > 0 and read.former - read.former % window ~= now - now % window then
    redis.call('PEXPIRE', log_name(prefix, id), 3 * window)
  end
  return struct.pack('>I4I1c0', blocks, oldest, times)
end
