#!lua flags=allow-oom
--[[
  Sweep: ends holds whose lease has run out, because no worker is left to do so, and charges the last
  cost that was noted.

  KEYS  holds, leases, renewals, ledger, events, whole
  ARGV  prefix, count_max, low_micros
  Uses  numbers, clock, names, holds, money
  Lists numbers, subjects, periods, rows, events, corrections
  Reply {swept, charged_micros, taken, has_events}  taken is how many entries it took off the indexes; if it
        is count_max, there may be more. has_events is 1 if events wait to be taken out

  The names of accounts, keys and marks come from the holds and have the same hash tag.
]]
local holds, leases, renewals, ledger, events = unpack(KEYS)
local prefix, count_max, low_micros = unpack(ARGV)
count_max = number(count_max)
local now = now_ms()
local swept, total, ended, listing, opened = 0, 0, {}, nil, nil

-- Nobody is left to tell a usage. What the ledger keeps of one has the group and the end user, who
-- count what the hold is charged; `settlement/settlement.ts` reads it.
local function usage_of_lost(extras)
  local VERSION_WITHOUT_USAGE = 3
  local group_id, user_id = string.match(extras, '^%d*,([^,]*),([^,]*)')
  if not group_id or group_id .. user_id == '' then return '' end
  return cmsgpack.pack({ VERSION_WITHOUT_USAGE, group_id .. ',' .. user_id })
end

-- A request may be listed twice. An unreadable hold stays for `tollgate ledger verify`, and the
-- sweep goes on.
local function expire(request_id, text)
  local payer, month, held, seen, _, extras = decode_hold(text)
  if not payer or ended[request_id] then return end
  ended[request_id] = true
  local account_id, key_id = string.match(payer, '^([^|]*)|([^|]*)')
  local account, key = account_name(prefix, account_id), key_name(prefix, key_id)
  local balance, account_held, in_flight, key_held, spent, low = read_amounts(account, key, month)
  low = tonumber(low or low_micros) or 0
  account_held, key_held = account_held - held, key_held - held
  local wanted = math.min(seen, held)
  local charged = limit_to_room(wanted, held + 0, key, balance, account_held, key_held, spent)
  if counts_in_lists(extras) then
    if not opened then listing, opened = listing or lists(), {} end
    listing.expire_levels(opened, prefix, key, account, extras, held + 0, charged, now)
  end
  local balance_text = whole(balance - charged)
  local done = done_name(prefix, request_id)
  -- The records of money come last. They have been read above, so their writes cannot fail; the
  -- writes before them do no harm alone.
  enter(ledger, 'expired', request_id, payer, held, whole(charged), whole(wanted - charged), balance_text,
    usage_of_lost(extras))
  redis.call('HSET', done, request_id, 'x' .. whole(charged))
  if counts_in_lists(extras) then redis.call('HSET', done, request_id .. ':extras', extras) end
  keep_marks(done)
  redis.call('HDEL', holds, request_id)
  write_amounts(account, key, month, balance_text, account_held, in_flight - 1, key_held, spent + charged)
  local left = balance - charged
  if left < low and balance >= low or left <= 0 and balance > 0 then
    listing = listing or lists()
    listing.telling().tell_fallen(prefix, account, low, balance, left, account_held, account_id .. '|' .. key_id, now)
  end
  swept, total = swept + 1, total + charged
end

-- It stops at the first request that runs and is not due.
local function take_first_leases()
  local ids = redis.call('LRANGE', leases, 0, count_max - 1)
  if #ids == 0 then return 0 end
  local taken, texts = 0, redis.call('HMGET', holds, unpack(ids))
  for index, request_id in ipairs(ids) do
    local text = texts[index]
    local due = text and select(5, decode_hold(text)) or ''
    if due ~= '' then
      if number(due) > now then break end
      expire(request_id, text)
    end
    taken = index
  end
  if taken > 0 then redis.call('LTRIM', leases, taken, -1) end
  return taken
end

local function take_renewals(left)
  local ids = redis.call('ZRANGEBYSCORE', renewals, '-inf', whole(now), 'LIMIT', 0, left)
  for _, request_id in ipairs(ids) do
    redis.call('ZREM', renewals, request_id)
    local text = redis.call('HGET', holds, request_id)
    if text then expire(request_id, text) end
  end
  return #ids
end

local taken = take_first_leases()
taken = taken + take_renewals(count_max - taken)
if opened then listing.write_states(opened) end
return { swept, total, taken, redis.call('EXISTS', events) }
