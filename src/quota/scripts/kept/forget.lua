--[[
  Forget: takes away an answer that is kept for an account.

  KEYS  kept, whole
  ARGV  prefix, account_id, response_id
  Uses  numbers, kept
  Reply 1 if it was kept, else 0; so 0 as well if a lost reply made it run again
]]
local kept = KEYS[1]
local prefix, account_id, response_id = unpack(ARGV)
if redis.call('EXISTS', kept) == 0 then return 0 end
local bytes = drop_answer(prefix, account_id, response_id)
if bytes > 0 then count_kept(prefix, account_id, -bytes) end
return bytes > 0 and 1 or 0
