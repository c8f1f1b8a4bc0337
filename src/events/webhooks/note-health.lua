#!lua flags=allow-oom
--[[
  Note: notes how the last attempt went, if the node still holds the lease.

  KEYS  lease, webhook
  ARGV  run, delivered_at, failing_since, reason
  Reply 1 if it was noted

  delivered_at is empty if it failed; failing_since and reason are empty if it did not.
]]
local lease, webhook = unpack(KEYS)
local run, delivered_at, failing_since, reason = unpack(ARGV)
if redis.call('GET', lease) ~= run then return 0 end
redis.call('HSET', webhook, 'failing_since', failing_since, 'reason', reason)
if delivered_at ~= '' then redis.call('HSET', webhook, 'delivered_at', delivered_at) end
return 1
