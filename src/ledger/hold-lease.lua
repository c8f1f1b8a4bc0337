#!lua flags=allow-oom
--[[
  Hold: takes the lease for a node, or makes it last longer when it is the node's already.

  KEYS  lease
  ARGV  node_id, lease_ms
  Reply 1 when the node holds it now, 0 when another one does

  Works without free memory, because what its holder does sets some free.
]]
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
