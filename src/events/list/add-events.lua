#!lua
--[[
  Add: adds events to the list of all buckets, each once.

  KEYS  list, known
  ARGV  -
  Each  id, text
  Reply {number, …}  the number of each event; 0 if the list had it already

  The numbers continue after the last one of the list. The history of an event is a digest of all ids up to it: two
  lists that have the same one at a number are the same up to there. Entries of older versions have none; their text
  stands for it. Both sizes are bounded: a webhook that lags behind by more than the list has lost some.
]]
local EVENTS_MAX, KNOWN_MAX, HISTORY_CHARS = '50000', 60000, 16
local list, known = unpack(KEYS)

local last = redis.call('XREVRANGE', list, '+', '-', 'COUNT', 1)[1]
local number = last and string.match(last[1], '^%d+') + 0 or 0
local history = last and (last[2][4] or last[2][2]) or ''
local numbers = {}
for first = 1, #ARGV, 2 do
  local id, text = unpack(ARGV, first, first + 1)
  local place = string.format('%d', number + 1)
  if redis.call('ZADD', known, 'NX', place, id) == 1 then
    number = number + 1
    history = string.sub(redis.sha1hex(history .. id), 1, HISTORY_CHARS)
    redis.call('XADD', list, 'MAXLEN', '~', EVENTS_MAX, place .. '-0', 'event', text, 'history', history)
    numbers[#numbers + 1] = number
  else
    numbers[#numbers + 1] = 0
  end
end
redis.call('ZREMRANGEBYSCORE', known, '-inf', string.format('%d', number - KNOWN_MAX))
return numbers
