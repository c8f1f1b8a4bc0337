#!lua flags=allow-oom
--[[
  Release: gives the lease up, unless another node holds it by now.

  KEYS  lease
  ARGV  node_id
  Reply 1 when it was given up, 0 when the node did not hold it
]]
local lease = KEYS[1]
local node_id = ARGV[1]
if redis.call('GET', lease) ~= node_id then return 0 end
return redis.call('DEL', lease)
