#!lua flags=allow-oom
--[[
  Forget: removes what a key has spent in old months, and the record of a key that was revoked long
  ago.

  KEYS  key, keys, log
  ARGV  key_id, months, may_remove
  Reply {forgotten, is_removed}  how many months went, and 1 when the record went

  months is a packed map of months, each with what the books say was spent: a month that Redis and the
  books do not agree about stays. If may_remove is '1', a revoked key goes with its record, unless it
  has a request, a hold or a month left. The month of a running request is never an old one.
]]
local key, keys, log = unpack(KEYS)
local key_id, months, may_remove = unpack(ARGV)
local forgotten = 0

for month, micros in pairs(cmsgpack.unpack(months)) do
  local field = 'spent:' .. month
  if redis.call('HGET', key, field) == micros and redis.call('HEXISTS', key, 'held:' .. month) == 0 then
    forgotten = forgotten + redis.call('HDEL', key, field)
  end
end

local function is_removable()
  local status, in_flight = unpack(redis.call('HMGET', key, 'status', 'in_flight'))
  if status ~= 'revoked' or tonumber(in_flight or '0') ~= 0 then return false end
  local record = redis.call('HGETALL', key)
  for i = 1, #record, 2 do
    if string.find(record[i], '^spent:') or string.find(record[i], '^held:') then return false end
  end
  return true
end

if may_remove ~= '1' or not is_removable() then return { forgotten, 0 } end
redis.call('DEL', key)
redis.call('DEL', log)
redis.call('SREM', keys, key_id)
return { forgotten, 1 }
