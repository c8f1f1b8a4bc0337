#!lua flags=no-writes
--[[
  Identify: finds whose key this is, for requests that cost nothing.

  KEYS  key, whole
  ARGV  prefix, digest
  Uses  numbers, clock, names, digest
  Reply {'known', account_id, models}  models is empty, or has a comma before and after each name
        {'unknown'} {'revoked'} {'expired'} {'suspended'}
]]
local key = KEYS[1]
local prefix, digest = unpack(ARGV)
local now = now_ms()

local status, account_id, key_digest, expires, models =
  unpack(redis.call('HMGET', key, 'status', 'account', 'digest', 'expires', 'models'))
if not status or not is_digest_of(key, key_digest, digest, now) then return { 'unknown' } end
if status ~= 'active' then return { 'revoked' } end
if expires and number(expires) <= now then return { 'expired' } end
if redis.call('HGET', account_name(prefix, account_id), 'status') ~= 'active' then return { 'suspended' } end
return { 'known', account_id, models or '' }
