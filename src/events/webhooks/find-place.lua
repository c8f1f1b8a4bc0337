#!lua flags=allow-oom
--[[
  Find: finds how far a webhook is in the list, at one moment.

  KEYS  webhook, told, list
  ARGV  keep_s
  Reply {cursor, {number, …}, seen, history, failing_since}  the events after cursor that are done too; the last number
        of the list, and the history of its event; failing_since is empty if the last attempt went well

  A new webhook gets what comes from now on. One that is ahead of the list gets all that the list has, since the list
  was started again. The place is kept for keep_s from now on.
]]
local webhook, told, list = unpack(KEYS)
local keep_s = ARGV[1]
local number_of = function(entry) return tonumber(string.match(entry[1], '^%d+')) end

local last = redis.call('XREVRANGE', list, '+', '-', 'COUNT', 1)[1]
local seen = last and number_of(last) or 0
local history = last and (last[2][4] or last[2][2]) or ''
local known = tonumber(redis.call('HGET', webhook, 'cursor') or nil)
local cursor = known or seen
if cursor > seen then
  local first = redis.call('XRANGE', list, '-', '+', 'COUNT', 1)[1]
  cursor = first and number_of(first) - 1 or 0
end
if cursor ~= known then
  redis.call('DEL', told)
  redis.call('HDEL', webhook, 'read_to', 'waiting')
  redis.call('HSET', webhook, 'cursor', string.format('%d', cursor))
end
redis.call('EXPIRE', webhook, keep_s)
redis.call('EXPIRE', told, keep_s)
local failing_since = redis.call('HGET', webhook, 'failing_since') or ''
return { cursor, redis.call('ZRANGEBYSCORE', told, '-inf', '+inf'), seen, history, failing_since }
