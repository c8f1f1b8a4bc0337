#!lua flags=allow-oom
--[[
  End: forgets a session, and tells every node.

  KEYS  sessions
  ARGV  digest, id, channel
  Reply 1, or 0 when there was none

  The message is {1, 'session', id, 1, 'revoked', ms}; ms is a text.
]]
local sessions = KEYS[1]
local digest, id, channel = unpack(ARGV)
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local count = redis.call('HDEL', sessions, digest)
redis.call('PUBLISH', channel, cmsgpack.pack({ 1, 'session', id, 1, 'revoked', now }))
return count
