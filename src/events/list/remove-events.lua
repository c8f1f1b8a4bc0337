#!lua flags=allow-oom
--[[
  Remove: takes events that the list has off the stream of their bucket.

  KEYS  events
  ARGV  min_id
  Reply 1 if the stream is empty, and gone
]]
local events = KEYS[1]
local min_id = ARGV[1]
redis.call('XTRIM', events, 'MINID', min_id)
if redis.call('XLEN', events) > 0 then return 0 end
redis.call('DEL', events)
return 1
