#!lua flags=allow-oom
--[[
  Release: gives the lease up, unless it is another node's by now.

  KEYS  lease
  ARGV  node_id
  Reply 1 when it was given up, 0 when the node did not hold it
]]
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
