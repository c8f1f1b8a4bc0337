#!lua flags=no-writes
--[[
  Identify: tells whose key this is, for requests that cost nothing.

  KEYS  key
  ARGV  prefix, digest
  Uses  numbers, clock, names
  Reply {'known', account, models}  models is empty, or has a comma before and after each name
        {'unknown'} {'revoked'} {'expired'} {'suspended'}
]]
local status, account, digest, old_digest, old_until, expires, models = unpack(redis.call('HMGET',
  KEYS[1], 'status', 'account', 'digest', 'old_digest', 'old_until', 'expires', 'models'))
local now = now_ms()
if not status then return { 'unknown' } end
if digest ~= ARGV[2] and not (old_digest == ARGV[2] and number(old_until) > now) then
  return { 'unknown' }
end
if status ~= 'active' then return { 'revoked' } end
if expires and number(expires) <= now then return { 'expired' } end
if redis.call('HGET', account_name(ARGV[1], account), 'status') ~= 'active' then
  return { 'suspended' }
end
return { 'known', account, models or '' }
