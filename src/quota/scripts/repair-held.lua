#!lua flags=allow-oom
--[[
  Repair: makes an account and some of its keys count as held and in flight what their open holds say.

  KEYS  account, holds, whole
  ARGV  prefix, account_id, key_ids
  Uses  numbers, names, holds
  Reply {{key_id, field, before, after}, …}  what it changed; key_id is empty for a field of the account

  key_ids is a packed list, whose length bounds a call. It all happens in one moment, so requests may
  run meanwhile. Doing it again changes nothing.
]]
local account, holds = unpack(KEYS)
local prefix, account_id, key_ids = unpack(ARGV)
local changes = {}
-- The amounts by key_id and field; the key_id of the account is empty.
local expected = { [''] = { held = 0 } }

local function expect(key_id, field, amount)
  local fields = expected[key_id] or {}
  fields[field] = (fields[field] or 0) + amount
  expected[key_id] = fields
end

for _, hold in ipairs(redis.call('HVALS', holds)) do
  local payer, month, held = decode_hold(hold)
  local payer_id, key_id = string.match(payer or '', '^([^|]*)|([^|]*)')
  if payer_id == account_id then
    expect('', 'held', held)
    expect(key_id, 'held:' .. month, held)
    expect(key_id, 'in_flight', 1)
  end
end

local function compare(key_id, field, found, after)
  if tonumber(found) ~= after then changes[#changes + 1] = { key_id, field, found, whole(after) } end
end

local function compare_key(key_id)
  local record, counted = redis.call('HGETALL', key_name(prefix, key_id)), expected[key_id] or {}
  for i = 1, #record, 2 do
    local field = record[i]
    if field == 'in_flight' or string.find(field, '^held:') then
      compare(key_id, field, record[i + 1], counted[field] or 0)
      counted[field] = nil
    end
  end
  if #record == 0 then return end
  for field, after in pairs(counted) do compare(key_id, field, '0', after) end
end

local version, held = unpack(redis.call('HMGET', account, 'version', 'held'))
if not version then return {} end
compare('', 'held', held or '0', expected[''].held)
for _, key_id in ipairs(cmsgpack.unpack(key_ids)) do compare_key(key_id) end

for _, change in ipairs(changes) do
  local key_id, field, _, after = unpack(change)
  redis.call('HSET', key_id == '' and account or key_name(prefix, key_id), field, after)
end
return changes
