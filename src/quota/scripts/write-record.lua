#!lua flags=allow-oom
--[[
  Write: creates or changes the record of a key, a group or an account, once for each write, and
  notifies every worker.

  KEYS  record, index
  ARGV  subject, id, write_id, expected, overlap_ms, fields, channel
  Uses  numbers, clock
  Reply {'written', version}
        {'conflict', version}  the record is not the expected one
        {'missing'}  there is nothing to change

  subject is key, group or account. expected is 'new', '' for any version, '7' for version 7 only, or '<7' for
  an older version, which is how a write is repeated after a failover if those before it do not come back.
  fields is a packed map of texts; an empty text deletes its field. If overlap_ms is not empty, the replaced
  digest stays valid for that long. The message is {1, subject, id, version, status, ms}; ms is a text.
]]
-- A write whose reply was lost is recognized when it is repeated, even if other writes came in
-- between.
local WRITES_CHARS_MAX = 300

local record, index = unpack(KEYS)
local subject, id, write_id, expected, overlap_ms, fields, channel = unpack(ARGV)

local stored, stored_writes = unpack(redis.call('HMGET', record, 'version', 'writes'))
local version, writes = number(stored), stored_writes or ''
if string.find(',' .. writes, ',' .. write_id .. ',', 1, true) then return { 'written', version } end
if expected == 'new' then
  if stored then return { 'conflict', version } end
elseif not stored then
  return { 'missing' }
elseif string.sub(expected, 1, 1) == '<' then
  if version >= number(string.sub(expected, 2)) then return { 'conflict', version } end
elseif expected ~= '' and number(expected) ~= version then
  return { 'conflict', version }
end

-- Everything that can fail comes before the first write.
local set, deleted = {}, {}
for field, value in pairs(cmsgpack.unpack(fields)) do
  if value == '' then
    deleted[#deleted + 1] = field
  else
    set[#set + 1] = field
    set[#set + 1] = value
  end
end
if overlap_ms ~= '' then
  local digest = redis.call('HGET', record, 'digest')
  for _, value in ipairs({ 'old_digest', digest, 'old_until', whole(now_ms() + number(overlap_ms)) }) do
    set[#set + 1] = value
  end
end
if #set > 0 then redis.call('HSET', record, unpack(set)) end
if #deleted > 0 then redis.call('HDEL', record, unpack(deleted)) end
redis.call('HSET', record, 'writes', string.sub(write_id .. ',' .. writes, 1, WRITES_CHARS_MAX))
redis.call('SADD', index, id)
local written = redis.call('HINCRBY', record, 'version', 1)
local status = redis.call('HGET', record, 'status')
redis.call('PUBLISH', channel, cmsgpack.pack({ 1, subject, id, written, status, whole(now_ms()) }))
return { 'written', written }
