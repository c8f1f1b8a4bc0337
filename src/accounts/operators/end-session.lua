#!lua flags=allow-oom
--[[
  End: forgets a session, and notifies every node.

  KEYS  sessions
  ARGV  digest, id, channel
  Reply 1, or 0 when there was none

  The message is one of src/fleet/fleet-messages.ts.
]]
local sessions = KEYS[1]
local digest, id, channel = unpack(ARGV)
local count = redis.call('HDEL', sessions, digest)
redis.call('PUBLISH', channel, cjson.encode({ type = 'access', ended = id }))
return count
