#!lua flags=allow-oom
--[[
  Renew: keeps the hold of a running request alive, notes what it has cost so far, and reports
  whether it may continue.

  KEYS  account, key, holds, renewals, done, whole
  ARGV  prefix, payer, extras, month, request_id, warn_at, held_micros, seen_micros, lease_ms,
        last_known_ms
  Uses  numbers, clock, holds, money
  Lists numbers, subjects, periods, rows, events, corrections
  Reply 'active', 'revoked', 'suspended', 'gone' when the lease had run out or may have, or 'invalid' when a number is
        not valid

  A hold that a failover lost is made again, as far as others have not taken what it held. One that is
  gone stays known for as long as its request runs. If Redis has not known of a request for so long that its
  mark may be gone too, its hold may have run out while its node stood still. Renewing twice has the same effect
  as renewing once.
  payer is account|key|month|model and extras say what the request counts in lists of limits, as in the hold.
]]
local account, key, holds, renewals, done = unpack(KEYS)
local prefix, payer, extras, month, request_id, warn_at, held_micros, seen_micros, lease_ms, last_known_ms = unpack(ARGV)
local held, seen, lease, last_known = tonumber(held_micros), tonumber(seen_micros), tonumber(lease_ms), tonumber(last_known_ms)
if not (is_amount(held) and is_amount(seen) and is_amount(lease) and is_amount(last_known)) then return 'invalid' end

local function find_stop(key, account)
  if redis.call('HGET', key, 'status') == 'revoked' then return 'revoked' end
  if redis.call('HGET', account, 'status') == 'suspended' then return 'suspended' end
end

local existing = redis.call('HGET', holds, request_id)
if not existing then
  local AGE_MAX_MS = 6900000 -- As in settle.lua.
  local is_marked = redis.call('HEXISTS', done, request_id) == 1
  if is_marked then keep_marks(done) end
  if is_marked or now_ms() - last_known > AGE_MAX_MS then return find_stop(key, account) or 'gone' end
end

local existing_payer, existing_month, held_text, existing_extras, _
if existing then existing_payer, existing_month, held_text, _, _, existing_extras = decode_hold(existing) end
local is_lost = not held_text
local balance, account_held, in_flight, key_held, spent
local listing, opened
if is_lost then
  balance, account_held, in_flight, key_held, spent = read_amounts(account, key, month)
  held = limit_to_room(held, 0, key, balance, account_held, key_held, spent)
  if counts_in_lists(extras) then
    listing, opened = lists(), {}
    listing.warn_from(warn_at)
    held, extras = listing.restore_levels(opened, prefix, key, account, extras, held, now_ms())
  end
  held_text = whole(held)
else
  payer, month, extras = existing_payer, existing_month, existing_extras
end

-- The records of money come last. They have been read above, so their writes cannot fail; the
-- writes before them do no harm alone.
redis.call('ZADD', renewals, whole(now_ms() + lease), request_id)
redis.call('HSET', holds, request_id, payer .. '|' .. held_text .. '|' .. whole(seen)
  .. (extras ~= '' and '||' .. extras or ''))
if is_lost then
  redis.call('HSET', account, 'held', whole(account_held + held))
  redis.call('HSET', key, 'in_flight', whole(in_flight + 1))
  if held > 0 then redis.call('HSET', key, 'held:' .. month, whole(key_held + held)) end
  -- What the failover lost may have been told by nobody.
  local owner = string.match(payer, '^[^|]*|[^|]*')
  if held > 0 then
    listing = listing or lists()
    listing.warn_from(warn_at)
    listing.telling().tell_charged(prefix, key, spent + key_held, spent + key_held + held, key_held + held, owner, month, now_ms())
  end
  if opened then
    listing.write_states(opened)
    listing.tell_crossed(prefix, owner, now_ms())
  end
end
return find_stop(key, account) or 'active'
