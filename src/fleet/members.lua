#!lua flags=no-writes
--[[
  Members: returns what all members reported last.

  KEYS  members
  ARGV  -
  Reply {now_ms, {name, member, …}}
        now_ms  the clock of Redis
        member  at_ms|run|has_ended|beat, see beat.lua
]]
local members = KEYS[1]
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
return { now_ms, redis.call('HGETALL', members) }
