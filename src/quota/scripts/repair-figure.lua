#!lua flags=allow-oom
--[[
  Repair: gives an account or a key the figure that the books have, if its own is still the one that was compared.

  KEYS  record, whole
  ARGV  prefix, account_id, field, found, after
  Uses  numbers, periods, events
  Reply 1  the figure is that of the books
        0  the record is gone, or the figure has changed since

  Doing it again changes nothing. A balance that rises may be reported as low again, as after a payment.
]]
local record = KEYS[1]
local prefix, account_id, field, found, after = unpack(ARGV)
local version, value = unpack(redis.call('HMGET', record, 'version', field))
if not version then return 0 end
value = tonumber(value or 0)
if value == tonumber(after) then return 1 end
if value ~= tonumber(found) then return 0 end
redis.call('HSET', record, field, after)
if field == 'balance' and tonumber(after) > value then
  telling().rearm(prefix, record, account_id, 'repair ' .. found .. ' ' .. after)
end
return 1
