#!lua flags=allow-oom
--[[
  Share: gives a node its place among the nodes that sweep, and shows the others that it is there.

  KEYS  order, heard
  ARGV  node_id, life_ms
  Reply {index, count}
        index  the place of the node, from 0
        count  how many nodes were heard within life_ms, with this one

  It works without free memory, because sweeps free some.
]]
local order, heard = unpack(KEYS)
local node_id, life_ms = unpack(ARGV)
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)

-- After a failover the clock may be behind: a dead node would stay until it has caught up.
for _, ahead in ipairs(redis.call('ZRANGEBYSCORE', heard, '(' .. now_ms, '+inf')) do
  redis.call('ZADD', heard, now_ms, ahead)
end
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', heard, '-inf', now_ms - life_ms)) do
  redis.call('ZREM', order, gone)
  redis.call('ZREM', heard, gone)
end
redis.call('ZADD', heard, now_ms, node_id)
redis.call('ZADD', order, 0, node_id)
return { redis.call('ZRANK', order, node_id), redis.call('ZCARD', order) }
