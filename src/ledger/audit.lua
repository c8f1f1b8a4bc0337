#!lua flags=no-writes
--[[
  Audit: tells how far the ledger of a bucket goes, and what accounts, their keys and their running
  requests have at that very moment.

  KEYS  ledger, holds
  ARGV  prefix, account_ids
  Reply {last_id, first_id, is_trimmed, accounts, holds}
        last_id     of all entries there ever were; '0-0' when there were none
        first_id    of the entries that are still there; '' when there are none
        is_trimmed  1 when there were more
        accounts    of each that exists {id, balance, held, {key_id, {field, value, …}, …}}
        holds       of their running requests, as decode_hold of quota/scripts/lua/holds.lua reads them

  account_ids is a packed list, which bounds a call; an empty one asks about the ledger alone.
  Fields of a key are in_flight, held:<month> and spent:<month>. Names of records are those of
  quota/scripts/lua/names.lua and redis/redis-keys.ts.
]]
local prefix, account_ids = ARGV[1], cmsgpack.unpack(ARGV[2])

local last_id, first_id, is_trimmed = '0-0', '', 0
if redis.call('EXISTS', KEYS[1]) == 1 then
  local stream = {}
  local info = redis.call('XINFO', 'STREAM', KEYS[1])
  for i = 1, #info, 2 do stream[info[i]] = info[i + 1] end
  last_id = stream['last-generated-id']
  if stream['first-entry'] then first_id = stream['first-entry'][1] end
  if stream['entries-added'] > stream['length'] then is_trimmed = 1 end
end

local function read_key(key_id)
  local counted, record = {}, redis.call('HGETALL', prefix .. 'key:' .. key_id)
  for i = 1, #record, 2 do
    local field = record[i]
    if field == 'in_flight' or string.find(field, '^held:') or string.find(field, '^spent:') then
      table.insert(counted, field)
      table.insert(counted, record[i + 1])
    end
  end
  return counted
end

local accounts, is_asked = {}, {}
for _, id in ipairs(account_ids) do
  local version, balance, held =
    unpack(redis.call('HMGET', prefix .. 'account:' .. id, 'version', 'balance', 'held'))
  if version then
    local keys = {}
    for _, key_id in ipairs(redis.call('SMEMBERS', prefix .. 'keys:' .. id)) do
      table.insert(keys, key_id)
      table.insert(keys, read_key(key_id))
    end
    is_asked[id] = true
    table.insert(accounts, { id, balance or '0', held or '0', keys })
  end
end

local holds = {}
if #account_ids > 0 then
  for _, hold in ipairs(redis.call('HVALS', KEYS[2])) do
    if is_asked[string.match(hold, '^[^|]*')] then table.insert(holds, hold) end
  end
end
return { last_id, first_id, is_trimmed, accounts, holds }
