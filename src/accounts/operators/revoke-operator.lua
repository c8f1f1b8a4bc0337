#!lua flags=allow-oom
--[[
  Revoke: ends the token of an operator for good, and notifies every node.

  KEYS  operators, tokens, revoked
  ARGV  id, digest, channel
  Reply when it was revoked, in ms; 0 when there is no such operator

  The message is one of src/fleet/fleet-messages.ts.
]]
local operators, tokens, revoked = unpack(KEYS)
local id, digest, channel = unpack(ARGV)
if redis.call('HEXISTS', operators, id) == 0 then return 0 end
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('HSETNX', revoked, id, now)
redis.call('HDEL', tokens, digest)
redis.call('PUBLISH', channel, cjson.encode({ type = 'access', ended = id }))
return tonumber(redis.call('HGET', revoked, id))
