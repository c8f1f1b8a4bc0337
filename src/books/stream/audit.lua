#!lua flags=no-writes
--[[
  Audit: reports how far the ledger of a bucket goes, and what accounts, their keys and their
  running requests have at the same moment.

  KEYS  ledger, holds, whole
  ARGV  prefix, account_ids, keys_max, part, parts
  Reply {last_id, first_id, is_trimmed, accounts, holds, looked_at}
        last_id     the id of the last entry ever; '0-0' when there was none
        first_id    the id of the first entry that is still there; '' when there is none
        is_trimmed  1 when entries were removed
        accounts    {id, balance, held, {key_id, {field, value, …}, …}} of each account that exists
        holds       the holds of their running requests; quota/scripts/lua/holds.lua reads them
        looked_at   how many of account_ids were read, from the first

  account_ids is a packed list; an empty one asks about the ledger alone. Its length bounds a call,
  and so does keys_max: the account that would exceed it is not read, nor any after it. An account
  that exceeds it alone is read in parts: part counts from 0, and each key is in one of them.
  The fields of a key are in_flight, held:<month> and spent:<month>. The names of records are those
  of quota/scripts/lua/names.lua and redis/redis-keys.ts.
]]
local ledger, holds = unpack(KEYS)
local prefix, account_ids, keys_max, part, parts = unpack(ARGV)
account_ids, keys_max = cmsgpack.unpack(account_ids), tonumber(keys_max)
part, parts = tonumber(part), tonumber(parts)

local last_id, first_id, is_trimmed = '0-0', '', 0
if redis.call('EXISTS', ledger) == 1 then
  local stream = {}
  local info = redis.call('XINFO', 'STREAM', ledger)
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
local looked_at, keys_read = 0, 0
for _, id in ipairs(account_ids) do
  local keys_of = prefix .. 'keys:' .. id
  keys_read = keys_read + redis.call('SCARD', keys_of)
  if parts == 1 and keys_read > keys_max then break end
  looked_at = looked_at + 1
  local version, balance, held =
    unpack(redis.call('HMGET', prefix .. 'account:' .. id, 'version', 'balance', 'held'))
  if version then
    local keys = {}
    for _, key_id in ipairs(redis.call('SMEMBERS', keys_of)) do
      if string.byte(key_id, -1) % parts == part then
        table.insert(keys, key_id)
        table.insert(keys, read_key(key_id))
      end
    end
    is_asked[id] = true
    table.insert(accounts, { id, balance or '0', held or '0', keys })
  end
end

local found_holds = {}
if #account_ids > 0 then
  for _, hold in ipairs(redis.call('HVALS', holds)) do
    if is_asked[string.match(hold, '^[^|]*')] then table.insert(found_holds, hold) end
  end
end
return { last_id, first_id, is_trimmed, accounts, found_holds, looked_at }
