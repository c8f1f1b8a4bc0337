#!lua flags=no-writes
--[[
  Find: reads all that is kept of an answer of an account.

  KEYS  kept
  ARGV  response_id
  Uses  numbers, clock, kept
  Reply {output, input, response}; {} if it is not kept, or only its output
]]
local kept = KEYS[1]
local response_id = ARGV[1]
local head, output, input, response =
  unpack(redis.call('HMGET', kept, 'p' .. response_id, 'o' .. response_id, 'i' .. response_id, 'r' .. response_id))
local over_ms, rest = read_kept_head(head)
if not over_ms or over_ms <= now_ms() or rest == 0 then return {} end
return { output, input, response }
