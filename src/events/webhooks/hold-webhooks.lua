#!lua flags=allow-oom
--[[
  Hold: takes the lease of the webhooks for a run of a node, or extends it if it holds it already.
  The id of the node is not enough: a copied data folder gives it to two.

  KEYS  lease
  ARGV  run, lease_ms
  Reply {1, now_ms} if the run holds it; lease_ms 0 gives it up
]]
local lease = KEYS[1]
local run, lease_ms = unpack(ARGV)
local holder = redis.call('GET', lease)
if holder and holder ~= run then
  -- A clock that was set back would keep the lease of a dead run for as long as that.
  if lease_ms ~= '0' then redis.call('PEXPIRE', lease, lease_ms, 'LT') end
  return { 0 }
end
if lease_ms == '0' then return { redis.call('DEL', lease) } end
redis.call('SET', lease, run, 'PX', lease_ms)
local time = redis.call('TIME')
return { 1, time[1] * 1000 + math.floor(time[2] / 1000) }
