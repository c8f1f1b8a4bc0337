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
