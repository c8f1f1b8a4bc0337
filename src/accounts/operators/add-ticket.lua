#!lua flags=allow-oom
--[[
  Add: keeps a record that has an end.

  KEYS  tickets
  ARGV  digest, record, life_ms, idle_ms, tickets_max
  Reply when it ends for good, in ms

  Those that have ended are forgotten. When there is no room, the one that would end first is, too.
  What is kept is when it ends unless it is used, when it ends for good, the digest and the record,
  with spaces between.
]]
local tickets = KEYS[1]
local digest, record, life_ms, idle_ms, tickets_max = unpack(ARGV)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local all = redis.call('HGETALL', tickets)
local count, first, first_end = 0, nil, math.huge
for n = 1, #all, 2 do
  local ends = tonumber(string.match(all[n + 1], '^%d+'))
  if ends <= now then
    redis.call('HDEL', tickets, all[n])
  else
    count = count + 1
    if ends < first_end then first, first_end = all[n], ends end
  end
end
if count >= tonumber(tickets_max) then redis.call('HDEL', tickets, first) end
local last = now + tonumber(life_ms)
local ends = math.min(last, now + tonumber(idle_ms))
redis.call('HSET', tickets, digest, string.format('%.0f %.0f %s %s', ends, last, digest, record))
redis.call('PEXPIRE', tickets, life_ms)
return last
