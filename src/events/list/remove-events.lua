#!lua flags=allow-oom
--[[
  Remove: takes events that the list has off the stream of their bucket, and notes how far it has them.

  KEYS  events, taken
  ARGV  min_id, place
  Reply {is_empty, lost}  is_empty is 1 if the stream is empty, and gone. lost is how many events were pushed out of
        a full stream before the list had them, since the last call

  `quota/scripts/lua/events.lua` counts those that are lost.
]]
local events, taken = unpack(KEYS)
local min_id, place = unpack(ARGV)
redis.call('XTRIM', events, 'MINID', min_id)
local lost = tonumber(redis.call('HGET', taken, 'lost') or 0)
if redis.call('XLEN', events) > 0 then
  redis.call('HSET', taken, 'place', place, 'lost', '0')
  return { 0, lost }
end
redis.call('DEL', events, taken)
return { 1, lost }
