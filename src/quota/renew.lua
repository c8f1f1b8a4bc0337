#!lua flags=allow-oom
--[[
  Renew: keeps the hold of a running request alive, notes what it has cost so far, and tells
  whether it may go on.

  KEYS  account, key, holds, renewals, done
  ARGV  payer, month, request_id, held_micros, seen_micros, lease_ms
  Uses  numbers, clock, holds, money
  Reply 'active', 'revoked', 'suspended', or 'gone' when the lease had run out

  A hold that a failover lost is made again, as far as others have not taken what it held. One that is
  gone stays known for as long as its request runs. Renewing twice does what renewing once does.
  payer is account|key|month|model, as in its hold.
]]
local request_id = ARGV[3]

local function stand()
  if redis.call('HGET', KEYS[2], 'status') == 'revoked' then return 'revoked' end
  if redis.call('HGET', KEYS[1], 'status') == 'suspended' then return 'suspended' end
end

local existing = redis.call('HGET', KEYS[3], request_id)
if not existing and redis.call('HEXISTS', KEYS[5], request_id) == 1 then
  keep_marks(KEYS[5])
  return stand() or 'gone'
end

local function restore_hold()
  local held_field = 'held:' .. ARGV[2]
  local balance, account_held = unpack(redis.call('HMGET', KEYS[1], 'balance', 'held'))
  local cap, spent, key_held =
    unpack(redis.call('HMGET', KEYS[2], 'cap', 'spent:' .. ARGV[2], held_field))
  local room = find_room(number(balance), number(account_held), cap, number(spent), number(key_held))
  local held = math.max(0, math.min(ARGV[4], room))
  redis.call('HINCRBY', KEYS[1], 'held', held)
  redis.call('HINCRBY', KEYS[2], 'in_flight', 1)
  if held > 0 then redis.call('HINCRBY', KEYS[2], held_field, held) end
  return whole(held)
end

local payer, _, held = ARGV[1], nil, nil
if existing then
  payer, _, held = decode_hold(existing)
else
  held = restore_hold()
end
redis.call('HSET', KEYS[3], request_id, payer .. '|' .. held .. '|' .. ARGV[5])
redis.call('ZADD', KEYS[4], whole(now_ms() + ARGV[6]), request_id)
return stand() or 'active'
