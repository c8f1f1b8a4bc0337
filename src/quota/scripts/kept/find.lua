#!lua flags=no-writes
--[[
  Find: reads all that is kept of an answer of an account.

  KEYS  account
  ARGV  prefix, account_id, response_id
  Uses  numbers, clock, kept
  Reply {output, input, response}; {} if it is not kept, or only its output
]]
local prefix, account_id, id = unpack(ARGV)
local kept = kept_name(prefix, account_id)
local head, output, input, response =
  unpack(redis.call('HMGET', kept, 'p' .. id, 'o' .. id, 'i' .. id, 'r' .. id))
local over_ms, rest = read_kept_head(head)
if not over_ms or over_ms <= now_ms() or rest == 0 then return {} end
return { output, input, response }
