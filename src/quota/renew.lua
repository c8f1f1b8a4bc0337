#!lua flags=allow-oom
--[[
  Renew: keeps the hold of a running request alive, notes what it has cost so far, and tells
  whether it may go on.

  KEYS  account, key, holds, leases, done
  ARGV  account_id, key_id, request_id, month, model, held_micros, seen_micros, lease_ms
  Uses  numbers, money
  Reply 'active', 'revoked', 'suspended', or 'gone' when the lease had run out

  A hold that a failover lost is made again, as far as others have not taken what it held. One that is
  gone stays known for as long as its request runs. Renewing twice does what renewing once does.
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

local hold = existing and decode_hold(existing) or {
  account = ARGV[1], key_id = ARGV[2], month = ARGV[4], model = ARGV[5], held = number(ARGV[6]),
}
hold.seen = number(ARGV[7])
if not existing then
  local room = find_room(KEYS[1], KEYS[2], hold.month)
  hold.held = math.max(0, math.min(hold.held, room))
  count_hold(KEYS[1], KEYS[2], hold, 1)
end
redis.call('HSET', KEYS[3], request_id, encode_hold(hold))
redis.call('ZADD', KEYS[4], whole(now_ms() + number(ARGV[8])), request_id)
return stand() or 'active'
