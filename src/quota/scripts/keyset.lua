#!lua
--[[
  Keyset: creates or changes the record of a key or an account, once for each write, and tells
  every worker.

  KEYS  record, index
  ARGV  subject, id, write_id, expected, overlap_ms, fields, channel
  Uses  numbers, clock
  Reply {'written', version}
        {'conflict', version}  the record is not the expected one
        {'missing'}  there is nothing to change

  subject is key or account. expected is 'new', '' for any version, '7' for just that one, or
  '<7' for an older one, which is how a write is repeated after a failover. fields is a packed
  map of texts; an empty one deletes its field. overlap_ms, unless empty, keeps the digest that is replaced
  valid for so long. The message is {1, subject, id, version, status, ms}, the last of them as text.
]]
-- Enough to know a write again whose reply was lost, although others came in between.
local WRITES_CHARS_MAX = 300

local subject, id, write_id, expected, overlap = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local stored, last_writes = unpack(redis.call('HMGET', KEYS[1], 'version', 'writes'))
local version = number(stored)
local former = last_writes or ''
if string.find(',' .. former, ',' .. write_id .. ',', 1, true) then return { 'written', version } end
if expected == 'new' then
  if stored then return { 'conflict', version } end
elseif not stored then
  return { 'missing' }
elseif string.sub(expected, 1, 1) == '<' then
  if version >= number(string.sub(expected, 2)) then return { 'conflict', version } end
elseif expected ~= '' and number(expected) ~= version then
  return { 'conflict', version }
end

-- All that could fail comes before the first write.
local set, deleted = {}, {}
for field, value in pairs(cmsgpack.unpack(ARGV[6])) do
  if value == '' then
    deleted[#deleted + 1] = field
  else
    set[#set + 1] = field
    set[#set + 1] = value
  end
end
if overlap ~= '' then
  local digest = redis.call('HGET', KEYS[1], 'digest')
  for _, value in ipairs({ 'old_digest', digest, 'old_until', whole(now_ms() + number(overlap)) }) do
    set[#set + 1] = value
  end
end
if #set > 0 then redis.call('HSET', KEYS[1], unpack(set)) end
if #deleted > 0 then redis.call('HDEL', KEYS[1], unpack(deleted)) end
redis.call('HSET', KEYS[1], 'writes', string.sub(write_id .. ',' .. former, 1, WRITES_CHARS_MAX))
redis.call('SADD', KEYS[2], id)
local written = redis.call('HINCRBY', KEYS[1], 'version', 1)
local status = redis.call('HGET', KEYS[1], 'status')
redis.call('PUBLISH', ARGV[7], cmsgpack.pack({ 1, subject, id, written, status, whole(now_ms()) }))
return { 'written', written }
