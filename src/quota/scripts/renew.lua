#!lua flags=allow-oom
--[[
  Renew: keeps the hold of a running request alive, notes what it has cost so far, and tells
  whether it may go on.

  KEYS  account, key, holds, renewals, done
  ARGV  payer, month, request_id, held_micros, seen_micros, lease_ms
  Uses  numbers, clock, holds, money
  Reply 'active', 'revoked', 'suspended', 'gone' when the lease had run out, or 'invalid' for a number that is none

  A hold that a failover lost is made again, as far as others have not taken what it held. One that is
  gone stays known for as long as its request runs. Renewing twice does what renewing once does.
  payer is account|key|month|model, as in its hold.
]]
local request_id, held, seen, lease = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
if not (is_amount(held) and is_amount(seen) and is_amount(lease)) then return 'invalid' end

local function stand()
  if redis.call('HGET', KEYS[2], 'status') == 'revoked' then return 'revoked' end
  if redis.call('HGET', KEYS[1], 'status') == 'suspended' then return 'suspended' end
end

local existing = redis.call('HGET', KEYS[3], request_id)
if not existing and redis.call('HEXISTS', KEYS[5], request_id) == 1 then
  keep_marks(KEYS[5])
  return stand() or 'gone'
end

local payer, month, held_text = ARGV[1], ARGV[2], nil
if existing then payer, month, held_text = decode_hold(existing) end
local is_lost = not held_text
local balance, account_held, in_flight, key_held, spent
if is_lost then
  payer, month = ARGV[1], ARGV[2]
  balance, account_held, in_flight, key_held, spent = read_amounts(KEYS[1], KEYS[2], month)
  held = math.max(0, math.min(held, find_room(KEYS[2], balance, account_held, spent, key_held)))
  held_text = whole(held)
end

-- First what does no harm alone; the records that come last have been read above, and so can be written.
redis.call('ZADD', KEYS[4], whole(now_ms() + lease), request_id)
redis.call('HSET', KEYS[3], request_id, payer .. '|' .. held_text .. '|' .. whole(seen))
if is_lost then
  redis.call('HSET', KEYS[1], 'held', whole(account_held + held))
  redis.call('HSET', KEYS[2], 'in_flight', whole(in_flight + 1))
  if held > 0 then redis.call('HSET', KEYS[2], 'held:' .. month, whole(key_held + held)) end
end
return stand() or 'active'
