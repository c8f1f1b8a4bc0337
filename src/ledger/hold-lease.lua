#!lua flags=allow-oom
--[[
  Hold: takes the lease for a node, or extends it if the node holds it already.

  KEYS  lease
  ARGV  node_id, lease_ms
  Reply 1 when the node holds it now, 0 when another one does

  It works without free memory, because the work of its holder frees some.
]]
local lease = KEYS[1]
local node_id, lease_ms = unpack(ARGV)
local holder = redis.call('GET', lease)
if holder and holder ~= node_id then return 0 end
redis.call('SET', lease, node_id, 'PX', lease_ms)
return 1
