-- A hold as it stands in Redis: account|key|month|model|held|seen. Who pays, from account to model, is one text, here
-- and in the ledger.

-- The held and seen amounts are texts, see numbers.lua.
local function encode_hold(payer, held, seen)
  return payer .. '|' .. held .. '|' .. seen
end

local function decode_hold(text)
  local payer, month, held, seen = string.match(text, '^([^|]*|[^|]*|([^|]*)|[^|]*)|(%d+)|(%d+)$')
  return { payer = payer, month = month, held = number(held), seen = number(seen) }
end
