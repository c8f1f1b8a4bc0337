#!lua flags=no-writes
--[[
  Find: the operator with this token.

  KEYS  operators, tokens, revoked, used
  ARGV  digest
  Reply {id, record, used}; used is empty when the token was never used
        {}  nobody has it, or it was revoked
]]
local operators, tokens, revoked, used = unpack(KEYS)
local digest = ARGV[1]
local id = redis.call('HGET', tokens, digest)
if not id or redis.call('HEXISTS', revoked, id) == 1 then return {} end
local record = redis.call('HGET', operators, id)
if not record then return {} end
return { id, record, redis.call('HGET', used, id) or '' }
