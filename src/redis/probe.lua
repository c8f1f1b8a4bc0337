#!lua
--[[
  Probe: would an admission be accepted now, and what time is it on the server?

  KEYS  probe
  ARGV  -
  Reply now_ms

  The first line has no flags, so this counts as a script that writes, and Redis itself refuses it
  where it would refuse an admission: out of memory, on a replica, while the disk fails, with too
  few replicas. The key is not touched; in a Cluster it names the node.
]]
local time = redis.call('TIME')
return time[1] * 1000 + math.floor(time[2] / 1000)
