#!lua flags=allow-oom
--[[
  Release: gives the lease up, unless another run holds it by now.

  KEYS  lease
  ARGV  run
  Reply 1 when it was given up, 0 when the run did not hold it
]]
local lease = KEYS[1]
local run = ARGV[1]
if redis.call('GET', lease) ~= run then return 0 end
return redis.call('DEL', lease)
