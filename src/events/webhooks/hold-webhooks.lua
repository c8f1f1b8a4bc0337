#!lua flags=allow-oom
--[[
  Hold: takes the lease of the webhooks for a node, or extends it if the node holds it already.

  KEYS  lease
  ARGV  node_id, lease_ms
  Reply 1 if the node holds it; lease_ms 0 gives it up
]]
local lease = KEYS[1]
local node_id, lease_ms = unpack(ARGV)
local holder = redis.call('GET', lease)
if holder and holder ~= node_id then return 0 end
if lease_ms == '0' then return redis.call('DEL', lease) end
redis.call('SET', lease, node_id, 'PX', lease_ms)
return 1
