#!lua flags=allow-oom
--[[
  Confirm: writes the version of a record again, so that WAIT has a write of this connection to wait for.

  KEYS  record
  ARGV  -
  Reply version, or 0 when there is no record

  Newer servers wait only for the last write of a connection. The connection of the write that is to
  be confirmed may be gone.
]]
local record = KEYS[1]
if redis.call('EXISTS', record) == 0 then return 0 end
return redis.call('HINCRBY', record, 'version', 0)
