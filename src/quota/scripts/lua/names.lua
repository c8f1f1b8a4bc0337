-- Names of Redis keys that a script learns on its way. The other half is redis/redis-keys.ts.

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

local function group_name(prefix, group_id)
  return prefix .. 'group:' .. group_id
end

-- `user_id` is the id of the key or group that has the template, and the digest of the end user.
local function user_name(prefix, user_id)
  return prefix .. 'user:' .. user_id
end

local function users_name(prefix, account_id)
  return prefix .. 'users:' .. account_id
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
