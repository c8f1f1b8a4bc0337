#!lua
--[[
  Probe: would an admission be accepted now, and what time is it on the server?

  KEYS  probe
  ARGV  -
  Reply now_ms

  The first line has no flags, so the script counts as one that writes. Redis refuses it whenever it
  would refuse an admission: out of memory, on a replica, while the disk fails, with too few
  replicas. The script does not touch its key; in a Cluster the key names the node.
]]
local time = redis.call('TIME')
return time[1] * 1000 + math.floor(time[2] / 1000)
