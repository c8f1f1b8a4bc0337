#!lua flags=allow-oom
--[[
  Enter: enters an operator and the digest of the token, once.

  KEYS  operators, tokens, revoked, used
  ARGV  id, digest, record, operators_max
  Reply {'entered'}
        {'full'}  there are too many, without those that were revoked

  When there is no room, it forgets all that were revoked.
]]
local operators, tokens, revoked, used = unpack(KEYS)
local id, digest, record, operators_max = unpack(ARGV)
if redis.call('HEXISTS', operators, id) == 1 then return { 'entered' } end
local max = tonumber(operators_max)
if #redis.call('HVALS', operators) >= max then
  local gone = redis.call('HGETALL', revoked)
  for n = 1, #gone, 2 do
    redis.call('HDEL', operators, gone[n])
    redis.call('HDEL', used, gone[n])
    redis.call('HDEL', revoked, gone[n])
  end
  if #redis.call('HVALS', operators) >= max then return { 'full' } end
end
redis.call('HSET', operators, id, record)
redis.call('HSET', tokens, digest, id)
return { 'entered' }
