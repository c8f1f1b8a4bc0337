#!lua
--[[
  Admit: lets requests of one key in, one after the other, and holds what each may cost, or says why not and changes
  nothing for it.

  KEYS  key, holds, leases, done
  ARGV  prefix, key_id, digest, limits
  Each  model_names, request_id, numbers
  Uses  numbers, clock, month, names, window, holds
  Reply {'admitted', now_ms, limit, left, reset_ms, account, month, held_micros}
        {'unknown'}  no such key, or another secret
        {'revoked'} {'expired'} {'suspended'}
        {'model'}  not among the models of the key
        {'finished'}  this request has been settled already
        {'invalid'}  a number that is none, in what is asked or in the hold that is there; or no list to enter it
        {'rate', now_ms, limit, 0, reset_ms, 'key' or 'account', wait_ms}
        {'in_flight', now_ms, limit, left, reset_ms, in_flight_max}
        {'cap', now_ms, limit, left, reset_ms, cap, spent, held}
        {'balance', now_ms, limit, left, reset_ms, balance, held}

  limits are doubles: window_ms and the limits of the plans starter, pro, business and team. numbers are
  doubles: hold_micros, hold_least_micros and lease_ms. model_names has the pinned id first, then its
  aliases, separated by commas. Where less than hold_micros is free, but at least hold_least_micros, all that is free is
  held. The same request is admitted once, however often it comes: a second call answers as the
  first. Of several requests the reply is a list of theirs, but for those that have the key refused: one reply is
  that of all then. What they share is read once and written once.
]]
local prefix, key_id, digest = ARGV[1], ARGV[2], ARGV[3]
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

local function is_allowed(models, model_names)
  for name in string.gmatch(model_names, '[^,]+') do
    if string.find(models, ',' .. name .. ',', 1, true) then return true end
  end
  return false
end

local window, starter, pro, business, team = struct.unpack('<ddddd', ARGV[4])
local key_limit, account_limit = number(key_rpm), limit_of(plan, starter, pro, business, team)
local by_key = read_window(prefix, key_id, key_window, key_limit, now, window)
local by_account = read_window(prefix, account, account_window, account_limit, now, window)
in_flight, balance, spent, cap = number(in_flight), number(balance), number(spent), cap and number(cap)
account_held, key_held = number(account_held), number(key_held)
in_flight_max = in_flight_max and number(in_flight_max)
local replies, is_changed = {}, false

-- An error would keep what is written and skip the rest. So all that can fail comes before the first hold: what is
-- shared has been read above, a request's own numbers are looked at, and a key of a wrong type fails for the first one.

for first = 5, #ARGV, 3 do
  repeat -- `break` goes on with the next request
    local model_names, request_id = ARGV[first], ARGV[first + 1]
    local wanted, least, lease = struct.unpack('<ddd', ARGV[first + 2])
    if not are_amounts(wanted, least, lease) then
      replies[#replies + 1] = { 'invalid' }
      break
    end
    if models and not is_allowed(models, model_names) then
      replies[#replies + 1] = { 'model' }
      break
    end

    local key_wait, account_wait = 0, 0
    if key_limit > 0 and by_key.count >= key_limit then
      key_wait = find_wait(by_key, prefix, key_id, key_limit, now, window)
    end
    if by_account.count >= account_limit then
      account_wait = find_wait(by_account, prefix, account, account_limit, now, window)
    end
    -- Clients are told of the limit that they will meet first.
    local limit, met = account_limit, by_account
    if key_limit > 0 and key_limit - by_key.count <= account_limit - by_account.count then
      limit, met = key_limit, by_key
    end
    local left, reset = math.max(0, limit - met.count), met.reset

    local balance_room = balance - account_held
    local cap_room = cap and cap - spent - key_held or math.huge
    local refusal
    if key_wait > 0 or account_wait > 0 then
      if key_wait >= account_wait then
        refusal = { 'rate', now, key_limit, 0, by_key.reset, 'key', key_wait }
      else
        refusal = { 'rate', now, account_limit, 0, by_account.reset, 'account', account_wait }
      end
    elseif in_flight_max and in_flight >= in_flight_max then
      refusal = { 'in_flight', now, limit, left, reset, in_flight_max }
    elseif cap_room < least then
      refusal = { 'cap', now, limit, left, reset, cap, spent, key_held }
    elseif balance_room < least then
      refusal = { 'balance', now, limit, left, reset, balance, account_held }
    end

    -- What has been admitted before is not refused now.
    local existing = refusal and redis.call('HGET', KEYS[2], request_id)
    local held = math.min(wanted, cap_room, balance_room)
    if not existing then
      if redis.call('HEXISTS', KEYS[4], request_id) == 1 then
        replies[#replies + 1] = { 'finished' }
        break
      end
      if refusal then
        replies[#replies + 1] = refusal
        break
      end
      local hold = account .. '|' .. key_id .. '|' .. month .. '|' .. string.match(model_names, '^[^,]*') .. '|'
        .. whole(held) .. '|0|' .. whole(now + lease)
      if redis.call('HSETNX', KEYS[2], request_id, hold) == 0 then
        existing = redis.call('HGET', KEYS[2], request_id)
      elseif type(redis.pcall('RPUSH', KEYS[3], request_id)) ~= 'number' then
        -- Nobody would ever end it.
        redis.call('HDEL', KEYS[2], request_id)
        replies[#replies + 1] = { 'invalid' }
        break
      end
    end
    if existing then
      local payer, held_month, already_held = decode_hold(existing)
      if payer then
        replies[#replies + 1] = { 'admitted', now, limit, left, reset, account, held_month, already_held + 0 }
      else
        replies[#replies + 1] = { 'invalid' }
      end
      break
    end
    in_flight, key_held, account_held = in_flight + 1, key_held + held, account_held + held
    take_place(by_account, now, window)
    if key_limit > 0 then take_place(by_key, now, window) end
    is_changed = true
    replies[#replies + 1] = { 'admitted', now, limit, math.max(0, left - 1), window, account, month, held }
  until true
end

if is_changed then
  account_window = write_window(by_account, prefix, account, now, window)
  redis.call('HSET', account_key, 'held', whole(account_held), 'window', account_window)
  if key_limit > 0 then
    key_window = write_window(by_key, prefix, key_id, now, window)
    redis.call('HSET', KEYS[1], 'in_flight', whole(in_flight), held_field, whole(key_held), 'window', key_window)
  else
    redis.call('HSET', KEYS[1], 'in_flight', whole(in_flight), held_field, whole(key_held))
  end
end
return #replies == 1 and replies[1] or replies
