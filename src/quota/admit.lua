#!lua
--[[
  Admit: lets one request in and holds what it may cost, or says why not and changes nothing.

  KEYS  key, key_log, holds, leases, done
  ARGV  prefix, key_id, digest, model_names, request_id, hold_micros, hold_least_micros,
        lease_ms, window_ms, starter_rpm, pro_rpm, business_rpm, team_rpm
  Uses  numbers, names, window, money
  Reply {'admitted', now_ms, limit, left, reset_ms, account, month, held_micros}
        {'unknown'}  no such key, or another secret
        {'revoked'} {'expired'} {'suspended'}
        {'model'}  not among the models of the key
        {'finished'}  this request has been settled already
        {'rate', now_ms, limit, 0, reset_ms, 'key' or 'account', wait_ms}
        {'in_flight', now_ms, limit, left, reset_ms, in_flight_max}
        {'cap', now_ms, limit, left, reset_ms, cap, spent, held}
        {'balance', now_ms, limit, left, reset_ms, balance, held}

  model_names has the pinned id first, then its aliases, separated by commas. Where less than
  hold_micros is free, but at least hold_least_micros, all that is free is held. The same request
  is admitted once, however often it comes: a second call answers as the first.
]]
local prefix, key_id, digest, model_names, request_id = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local window = number(ARGV[9])
local now = now_ms()
local month = month_of(now)

local status, account, key_digest, old_digest, old_until, expires, models, key_rpm, in_flight,
  in_flight_max, cap, spent, key_held = unpack(redis.call('HMGET', KEYS[1], 'status', 'account',
    'digest', 'old_digest', 'old_until', 'expires', 'models', 'rpm', 'in_flight', 'in_flight_max',
    'cap', 'spent:' .. month, 'held:' .. month))
if not status then return { 'unknown' } end
if key_digest ~= digest and not (old_digest == digest and number(old_until) > now) then
  return { 'unknown' }
end
if status ~= 'active' then return { 'revoked' } end
if expires and number(expires) <= now then return { 'expired' } end

local account_key = account_name(prefix, account)
local account_status, plan, balance, account_held =
  unpack(redis.call('HMGET', account_key, 'status', 'plan', 'balance', 'held'))
if account_status ~= 'active' then return { 'suspended' } end

local function is_allowed()
  for name in string.gmatch(model_names, '[^,]+') do
    if string.find(models, ',' .. name .. ',', 1, true) then return true end
  end
  return false
end
if models and not is_allowed() then return { 'model' } end

local key_limit = number(key_rpm)
local plans = { starter = ARGV[10], pro = ARGV[11], business = ARGV[12], team = ARGV[13] }
-- A plan that this version does not know gets the smallest.
local account_limit = number(plans[plan] or ARGV[10])
local account_log = log_name(prefix, account)
local by_key = read_window(KEYS[2], key_limit, now, window)
local by_account = read_window(account_log, account_limit, now, window)

-- Clients are told of the limit that they will meet first.
local function show_rate(taken)
  local is_key = key_limit > 0 and key_limit - by_key.count <= account_limit - by_account.count
  local limit, log = account_limit, by_account
  if is_key then limit, log = key_limit, by_key end
  return limit, math.max(0, limit - log.count - taken), taken > 0 and window or log.reset
end

local existing = redis.call('HGET', KEYS[3], request_id)
if existing then
  local hold = decode_hold(existing)
  local limit, left, reset = show_rate(0)
  return { 'admitted', now, limit, left, reset, hold.account, hold.month, hold.held }
end
if redis.call('HEXISTS', KEYS[5], request_id) == 1 then return { 'finished' } end

if by_key.wait > 0 or by_account.wait > 0 then
  if by_key.wait >= by_account.wait then
    return { 'rate', now, key_limit, 0, by_key.reset, 'key', by_key.wait }
  end
  return { 'rate', now, account_limit, 0, by_account.reset, 'account', by_account.wait }
end
local limit, left, reset = show_rate(0)
if in_flight_max and number(in_flight) >= number(in_flight_max) then
  return { 'in_flight', now, limit, left, reset, number(in_flight_max) }
end

local least = number(ARGV[7])
local balance_room = number(balance) - number(account_held)
local cap_room = cap and number(cap) - number(spent) - number(key_held) or math.huge
if cap_room < least then
  return { 'cap', now, limit, left, reset, number(cap), number(spent), number(key_held) }
end
if balance_room < least then
  return { 'balance', now, limit, left, reset, number(balance), number(account_held) }
end

local hold = {
  account = account, key_id = key_id, month = month, model = string.match(model_names, '^[^,]*'),
  held = math.min(number(ARGV[6]), cap_room, balance_room), seen = 0,
}
take_place(KEYS[2], key_limit, now, window, by_key)
take_place(account_log, account_limit, now, window, by_account)
redis.call('HINCRBY', account_key, 'held', whole(hold.held))
redis.call('HSET', KEYS[1], 'in_flight', whole(number(in_flight) + 1),
  'held:' .. month, whole(number(key_held) + hold.held))
redis.call('HSET', KEYS[3], request_id, encode_hold(hold))
redis.call('ZADD', KEYS[4], whole(now + number(ARGV[8])), request_id)
limit, left, reset = show_rate(1)
return { 'admitted', now, limit, left, reset, account, month, hold.held }
