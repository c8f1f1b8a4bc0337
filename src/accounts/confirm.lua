#!lua flags=allow-oom
--[[
  Confirm: writes the version of a record again, so that WAIT has a write of this connection to wait for.

  KEYS  record
  ARGV  -
  Reply version, or 0 when there is no record

  Newer servers wait for the last write of a connection only. The write that is to be confirmed may
  have been sent over one that is gone.
]]
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
return redis.call('HINCRBY', KEYS[1], 'version', 0)
