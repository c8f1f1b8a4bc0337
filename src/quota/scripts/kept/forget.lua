--[[
  Forget: takes away an answer that is kept for an account.

  KEYS  account
  ARGV  prefix, account_id, response_id
  Uses  numbers, kept
  Reply 1 if it was kept, else 0; so 0 as well if a lost reply made it run again
]]
local prefix, account_id, id = unpack(ARGV)
local bytes = drop_answer(prefix, account_id, id)
if bytes > 0 then count_kept(prefix, account_id, -bytes) end
return bytes > 0 and 1 or 0
