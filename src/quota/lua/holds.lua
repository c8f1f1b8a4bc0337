-- A hold as it stands in Redis. The end of its lease comes first, where `sweep.lua` finds it without taking the rest apart.

-- Amounts are texts, see numbers.lua.
local function encode_hold(lease_end, account, key_id, month, model, held, seen)
  return whole(lease_end) .. '|' .. account .. '|' .. key_id .. '|' .. month .. '|' .. model .. '|' .. held .. '|' .. seen
end

local function decode_hold(text)
  local account, key_id, month, model, held, seen =
    string.match(text, '^%d+|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)$')
  return {
    account = account, key_id = key_id, month = month, model = model,
    held = number(held), seen = number(seen),
  }
end
