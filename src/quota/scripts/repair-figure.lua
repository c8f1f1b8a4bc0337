#!lua flags=allow-oom
--[[
  Repair: gives an account or a key the figure that the books have, if its own is still the one that was compared.

  KEYS  record
  ARGV  field, found, after
  Reply 1  the figure is that of the books
        0  the record is gone, or the figure has changed since

  Doing it again changes nothing.
]]
local record = KEYS[1]
local field, found, after = unpack(ARGV)
local version, value = unpack(redis.call('HMGET', record, 'version', field))
if not version then return 0 end
value = tonumber(value or 0)
if value == tonumber(after) then return 1 end
if value ~= tonumber(found) then return 0 end
redis.call('HSET', record, field, after)
return 1
