--[[
  Keep: keeps an answer for its account for a while, in place of what is oldest if there is no room.

  KEYS  key, whole
  ARGV  prefix, response_id, previous_id, input, output, response, ttl_ms, answer_bytes_max, account_bytes_max, bucket_bytes_max
  Uses  numbers, clock, kept
  Reply {'kept', bucket_bytes}       also if it was kept before
        {'too_large', bucket_bytes}  nothing changes
        {'full', bucket_bytes}       what other accounts have in the bucket leaves no room
        {'unknown', 0}               the key is gone

  input and response are the rest of an answer. Clients that repeat their conversation need the output alone, and their
  input grows with each step. So the rests go first, those of the oldest answers before all, and then the answers. An
  answer that is too large with its rest is kept without it.
  An account pushes out what is its own, and of others only what is over.
]]
local key = KEYS[1]
local prefix, response_id, previous_id, input, output, response, ttl_ms, answer_bytes_max, account_bytes_max, bucket_bytes_max =
  unpack(ARGV)
-- What Redis needs beside the texts and the ids in the names of fields and in queues.
local OVERHEAD_BYTES = 384
-- Each call takes away more that is over than it adds, and no more than this.
local OVER_MAX, DROPPED_MAX = 8, 1000

local account_id = redis.call('HGET', key, 'account')
if not account_id then return { 'unknown', 0 } end
local kept = kept_name(prefix, account_id)
local queue, rests = kept_queue_name(prefix, account_id), kept_rests_name(prefix, account_id)
local sizes, ends = kept_bytes_name(prefix), kept_ends_name(prefix)
local now = now_ms()

local function forget_account(of)
  local bytes = number(redis.call('HGET', sizes, of))
  redis.call('DEL', kept_name(prefix, of), kept_queue_name(prefix, of), kept_rests_name(prefix, of))
  count_kept(prefix, of, -bytes)
  redis.call('HDEL', sizes, of)
  redis.call('ZREM', ends, of)
end

local last_end = number(redis.call('ZSCORE', ends, account_id))
if last_end > 0 and last_end <= now then forget_account(account_id) end
for _, of in ipairs(redis.call('ZRANGEBYSCORE', ends, 0, now, 'LIMIT', 0, OVER_MAX)) do
  forget_account(of)
end

local total = number(redis.call('GET', kept_total_name(prefix)))
if redis.call('HEXISTS', kept, 'p' .. response_id) == 1 then return { 'kept', total } end
local held = number(redis.call('HGET', sizes, account_id))
local size_max = math.min(tonumber(answer_bytes_max), tonumber(account_bytes_max))
local room = math.min(tonumber(account_bytes_max), tonumber(bucket_bytes_max) - (total - held))
local output_bytes = #output + #previous_id + 6 * #response_id + OVERHEAD_BYTES
local rest_bytes = #input > 0 and #input + #response or 0
if output_bytes > size_max then return { 'too_large', total } end
if output_bytes > room then return { 'full', total } end
if output_bytes + rest_bytes > math.min(size_max, room) then rest_bytes = 0 end
local bytes = output_bytes + rest_bytes

local freed = 0
local function has_room()
  return held - freed + bytes <= room
end

-- What is over goes, whether there is room or not.
for _ = 1, OVER_MAX do
  local oldest = redis.call('LINDEX', queue, 0)
  local over_ms = oldest and read_kept_head(redis.call('HGET', kept, 'p' .. oldest))
  if not oldest or (over_ms and over_ms > now) then break end
  freed = freed + drop_answer(prefix, account_id, oldest)
end
for _ = 1, DROPPED_MAX do
  local oldest = not has_room() and redis.call('LPOP', rests)
  if not oldest then break end
  local over_ms, rest, output_only, before = read_kept_head(redis.call('HGET', kept, 'p' .. oldest))
  if over_ms then
    redis.call('HDEL', kept, 'i' .. oldest, 'r' .. oldest)
    redis.call('HSET', kept, 'p' .. oldest, write_kept_head(over_ms, 0, output_only, before))
    freed = freed + rest
  end
end
for _ = 1, DROPPED_MAX do
  local oldest = not has_room() and redis.call('LINDEX', queue, 0)
  if not oldest then break end
  freed = freed + drop_answer(prefix, account_id, oldest)
end
if not has_room() then return { 'full', count_kept(prefix, account_id, -freed) } end

local over_ms = now + ttl_ms
redis.call('HSET', kept, 'p' .. response_id, write_kept_head(over_ms, rest_bytes, output_bytes, previous_id), 'o' .. response_id, output)
redis.call('RPUSH', queue, response_id)
if rest_bytes > 0 then
  redis.call('HSET', kept, 'i' .. response_id, input, 'r' .. response_id, response)
  redis.call('RPUSH', rests, response_id)
end
total = count_kept(prefix, account_id, bytes - freed)

-- Nothing is left of those who keep nothing more. An end never comes nearer, as the time may have
-- been longer before.
redis.call('ZADD', ends, 'GT', over_ms, account_id)
local function expire(names, end_ms)
  for _, name in ipairs(names) do redis.call('PEXPIREAT', name, whole(end_ms)) end
end
expire({ kept, queue, rests }, number(redis.call('ZSCORE', ends, account_id)))
local last = redis.call('ZREVRANGE', ends, 0, 0, 'WITHSCORES')
expire({ sizes, ends, kept_total_name(prefix) }, number(last[2]))
return { 'kept', total }
