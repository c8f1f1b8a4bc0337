-- Names of Redis keys that a script learns on its way. All names are in redis/redis-keys.ts too.

local function account_name(prefix, account_id)
  return prefix .. 'account:' .. account_id
end

local function key_name(prefix, key_id)
  return prefix .. 'key:' .. key_id
end

-- `id` is that of an account or of a key.
local function log_name(prefix, id)
  return prefix .. 'log:' .. id
end

local function done_name(prefix, request_id)
  return prefix .. 'done:' .. string.sub(request_id, 5, 10)
end

local function holds_name(prefix)
  return prefix .. 'holds'
end

local function leases_name(prefix)
  return prefix .. 'leases'
end

local function renewals_name(prefix)
  return prefix .. 'renewals'
end

local function ledger_name(prefix)
  return prefix .. 'ledger'
end
