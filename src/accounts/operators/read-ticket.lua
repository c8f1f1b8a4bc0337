#!lua flags=allow-oom
--[[
  Read: reads a record that has not ended; if is_taken is '1', it is read this once.

  KEYS  tickets
  ARGV  digest, is_taken
  Reply {record, ends}
        {}  there is none
]]
local tickets = KEYS[1]
local digest, is_taken = unpack(ARGV)
local value = redis.call('HGET', tickets, digest)
if not value then return {} end
if is_taken == '1' then redis.call('HDEL', tickets, digest) end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ends, record = string.match(value, '^(%d+) %x+ (.*)$')
if tonumber(ends) <= now then return {} end
return { record, tonumber(ends) }
