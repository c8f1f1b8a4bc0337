#!lua
--[[
  Admit: lets one request in and holds what it may cost, or says why not and changes nothing.

  KEYS  key, key_log, holds, leases, done
  ARGV  prefix, key_id, digest, model_names, request_id, hold_micros, hold_least_micros,
        lease_ms, window_ms, plan_limits
  Uses  numbers, clock, month, names, window, holds
  Reply {'admitted', now_ms, limit, left, reset_ms, account, month, held_micros}
        {'unknown'}  no such key, or another secret
        {'revoked'} {'expired'} {'suspended'}
        {'model'}  not among the models of the key
        {'finished'}  this request has been settled already
        {'rate', now_ms, limit, 0, reset_ms, 'key' or 'account', wait_ms}
        {'in_flight', now_ms, limit, left, reset_ms, in_flight_max}
        {'cap', now_ms, limit, left, reset_ms, cap, spent, held}
        {'balance', now_ms, limit, left, reset_ms, balance, held}

  plan_limits is ,starter=60,pro=300 and so on. model_names has the pinned id first, then its
  aliases, separated by commas. Where less than hold_micros is free, but at least
  hold_least_micros, all that is free is held. The same request is admitted once, however often
  it comes: a second call answers as the first.
]]
local prefix, key_id, digest, model_names, request_id = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local window = number(ARGV[9])
local now = now_ms()
local month = month_of(now)
local held_field = 'held:' .. month

local status, account, key_digest, expires, models, key_rpm, in_flight, in_flight_max, cap, spent, key_held,
  key_window =
  unpack(redis.call('HMGET', KEYS[1], 'status', 'account', 'digest', 'expires', 'models', 'rpm',
    'in_flight', 'in_flight_max', 'cap', 'spent:' .. month, held_field, 'window'))
if not status then return { 'unknown' } end
if key_digest ~= digest then
  local old_digest, old_until = unpack(redis.call('HMGET', KEYS[1], 'old_digest', 'old_until'))
  if old_digest ~= digest or number(old_until) <= now then return { 'unknown' } end
end
if status ~= 'active' then return { 'revoked' } end
if expires and number(expires) <= now then return { 'expired' } end

local account_key = account_name(prefix, account)
local account_status, plan, balance, account_held, account_window =
  unpack(redis.call('HMGET', account_key, 'status', 'plan', 'balance', 'held', 'window'))
if account_status ~= 'active' then return { 'suspended' } end

local function is_allowed()
  for name in string.gmatch(model_names, '[^,]+') do
    if string.find(models, ',' .. name .. ',', 1, true) then return true end
  end
  return false
end
if models and not is_allowed() then return { 'model' } end

local key_limit = number(key_rpm)
local account_limit = number(limit_of(plan, ARGV[10]))
local account_log = log_name(prefix, account)
local by_key = read_window(KEYS[2], key_window, key_limit, now, window)
local by_account = read_window(account_log, account_window, account_limit, now, window)

-- Clients are told of the limit that they will meet first.
local function show_rate(taken)
  local is_key = key_limit > 0 and key_limit - by_key.count <= account_limit - by_account.count
  local limit, log = account_limit, by_account
  if is_key then limit, log = key_limit, by_key end
  return limit, math.max(0, limit - log.count - taken), taken > 0 and window or log.reset
end

local function answer_again(existing)
  local hold = decode_hold(existing)
  local limit, left, reset = show_rate(0)
  return { 'admitted', now, limit, left, reset, account, hold.month, hold.held }
end

local function is_finished()
  return redis.call('HEXISTS', KEYS[5], request_id) == 1
end

-- What has been admitted before is not refused now.
local function refuse(reply)
  local existing = redis.call('HGET', KEYS[3], request_id)
  if existing then return answer_again(existing) end
  if is_finished() then return { 'finished' } end
  return reply
end

if by_key.wait > 0 or by_account.wait > 0 then
  if by_key.wait >= by_account.wait then
    return refuse({ 'rate', now, key_limit, 0, by_key.reset, 'key', by_key.wait })
  end
  return refuse({ 'rate', now, account_limit, 0, by_account.reset, 'account', by_account.wait })
end
in_flight = number(in_flight)
if in_flight_max and in_flight >= number(in_flight_max) then
  local limit, left, reset = show_rate(0)
  return refuse({ 'in_flight', now, limit, left, reset, number(in_flight_max) })
end

balance, account_held, key_held = number(balance), number(account_held), number(key_held)
local least = number(ARGV[7])
local balance_room = balance - account_held
local cap_room = cap and number(cap) - number(spent) - key_held or math.huge
if cap_room < least then
  local limit, left, reset = show_rate(0)
  return refuse({ 'cap', now, limit, left, reset, number(cap), number(spent), key_held })
end
if balance_room < least then
  local limit, left, reset = show_rate(0)
  return refuse({ 'balance', now, limit, left, reset, balance, account_held })
end

local held = math.min(ARGV[6], cap_room, balance_room)
local model = string.match(model_names, '^[^,]*')
if is_finished() then return { 'finished' } end
-- Nothing has been changed until here.
local payer = account .. '|' .. key_id .. '|' .. month .. '|' .. model
if redis.call('HSETNX', KEYS[3], request_id, encode_hold(payer, whole(held), '0')) == 0 then
  return answer_again(redis.call('HGET', KEYS[3], request_id))
end
redis.call('ZADD', KEYS[4], whole(now + ARGV[8]), request_id)
redis.call('HSET', account_key, 'held', whole(account_held + held),
  'window', take_place(account_log, now, window, by_account))
if key_limit > 0 then
  redis.call('HSET', KEYS[1], 'in_flight', whole(in_flight + 1), held_field, whole(key_held + held),
    'window', take_place(KEYS[2], now, window, by_key))
else
  redis.call('HSET', KEYS[1], 'in_flight', whole(in_flight + 1), held_field, whole(key_held + held))
end
local limit, left, reset = show_rate(1)
return { 'admitted', now, limit, left, reset, account, month, held }
