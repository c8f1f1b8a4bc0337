#!lua flags=allow-oom
--[[
  Note: notes that a webhook has received an event, or that it never will, if the node still holds the lease and has
  read the list that is there.

  KEYS  lease, webhook, told, list
  ARGV  run, number, cursor, dropped, seen, history, read_to, waiting, keep_s
  Reply 1 if it was noted

  Every event up to cursor is done; told has those after it. number is empty to note the cursor alone. seen is the
  furthest number that the node has read, and history that of its event: after a failover other events may have these
  numbers, and what was sent of the old ones says nothing of them. An event that a full list pushed out is in no doubt.
  waiting is how many events up to read_to the webhook has yet to receive.
]]
local lease, webhook, told, list = unpack(KEYS)
local run, number, cursor, dropped, seen, history, read_to, waiting, keep_s = unpack(ARGV)
if redis.call('GET', lease) ~= run then return 0 end
if seen ~= '0' then
  local entry = redis.call('XRANGE', list, seen .. '-0', '+', 'COUNT', 1)[1]
  if not entry then return 0 end
  if entry[1] == seen .. '-0' and (entry[2][4] or entry[2][2]) ~= history then return 0 end
end
if number ~= '' then redis.call('ZADD', told, number, number) end
redis.call('HSET', webhook, 'cursor', cursor, 'read_to', read_to, 'waiting', waiting)
if dropped ~= '0' then redis.call('HINCRBY', webhook, 'dropped', dropped) end
redis.call('ZREMRANGEBYSCORE', told, '-inf', cursor)
redis.call('EXPIRE', webhook, keep_s)
redis.call('EXPIRE', told, keep_s)
return 1
