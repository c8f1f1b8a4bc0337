-- Names of Redis keys that a script finds on its way; the other half of redis/redis-keys.ts.

local function account_name(prefix, account)
  return prefix .. 'account:' .. account
end

local function key_name(prefix, key_id)
  return prefix .. 'key:' .. key_id
end

local function log_name(prefix, id)
  return prefix .. 'log:' .. id
end

local function done_name(prefix, request_id)
  return prefix .. 'done:' .. string.sub(request_id, 5, 10)
end
