-- A hold as it stands in Redis.

-- Amounts are texts, see numbers.lua.
local function encode_hold(account, key_id, month, model, held, seen)
  return account .. '|' .. key_id .. '|' .. month .. '|' .. model .. '|' .. held .. '|' .. seen
end

local function decode_hold(text)
  local account, key_id, month, model, held, seen =
    string.match(text, '^([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)$')
  return {
    account = account, key_id = key_id, month = month, model = model,
    held = number(held), seen = number(seen),
  }
end
