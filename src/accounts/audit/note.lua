#!lua flags=allow-oom
--[[
  Note: enters what an operator changed into the audit log, once.

  KEYS  audit
  ARGV  entry_id, entry, at_ms, is_repeat, entries_max
  Reply at_ms

  at_ms is empty, unless the entry was there before and a failover may have lost it. If is_repeat is '1',
  the script looks for the entry among those of the last eleven minutes; nothing older is repeated.
]]
local REPEATED_MS = 660000
local SEARCHED_MAX = 2000

local audit = KEYS[1]
local entry_id, entry, at_ms, is_repeat, entries_max = unpack(ARGV)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if is_repeat == '1' then
  local since = string.format('%.0f', now - REPEATED_MS)
  for _, found in ipairs(redis.call('XREVRANGE', audit, '+', since, 'COUNT', SEARCHED_MAX)) do
    if found[2][2] == entry_id then return tonumber(found[2][4]) end
  end
end
if at_ms == '' then at_ms = string.format('%.0f', now) end
redis.call('XADD', audit, 'MAXLEN', entries_max, '*', 'id', entry_id, 'at', at_ms, 'entry', entry)
return tonumber(at_ms)
