#!lua flags=allow-oom
--[[
  Note: notes that a webhook has been told an event, or that it will not be, if the node still holds the lease.

  KEYS  lease, webhook, told
  ARGV  node_id, number, cursor, dropped
  Reply 1 if it was noted

  Every event up to cursor is done; told has those after it. number is empty to note the cursor alone.
]]
local KEEP_S = 2678400
local lease, webhook, told = unpack(KEYS)
local node_id, number, cursor, dropped = unpack(ARGV)
if redis.call('GET', lease) ~= node_id then return 0 end
if number ~= '' then redis.call('ZADD', told, number, number) end
redis.call('HSET', webhook, 'cursor', cursor)
if dropped ~= '0' then redis.call('HINCRBY', webhook, 'dropped', dropped) end
redis.call('ZREMRANGEBYSCORE', told, '-inf', cursor)
redis.call('EXPIRE', webhook, KEEP_S)
redis.call('EXPIRE', told, KEEP_S)
return 1
