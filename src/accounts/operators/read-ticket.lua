#!lua flags=allow-oom
--[[
  Read: reads a record that has not ended; if is_taken is '1', it is read this once.

  KEYS  tickets
  ARGV  digest, is_taken, idle_ms
  Reply {record, ends, last}
        {}  there is none

  Reading it is a use, which puts off its end. That is written down once in a while, not each time.
]]
local tickets = KEYS[1]
local digest, is_taken, idle_ms = unpack(ARGV)
local value = redis.call('HGET', tickets, digest)
if not value then return {} end
if is_taken == '1' then redis.call('HDEL', tickets, digest) end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ends, last, record = string.match(value, '^(%d+) (%d+) %x+ (.*)$')
ends, last = tonumber(ends), tonumber(last)
if ends <= now then return {} end
local later = math.min(last, now + tonumber(idle_ms))
if is_taken == '0' and later - ends > tonumber(idle_ms) / 60 then
  redis.call('HSET', tickets, digest, string.format('%.0f %.0f %s %s', later, last, digest, record))
  ends = later
end
return { record, ends, last }
