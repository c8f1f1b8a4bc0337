-- Holds, charges and the ledger. At every instant, for each account and each key and month:
--   held = sum of its holds,   held <= balance,   spent + held <= cap

-- A request that was settled is known for at least DONE_KEEP_MIN_S.
local DONE_KEEP_S = 10800
local DONE_KEEP_MIN_S = 7200

local function encode_hold(hold)
  return table.concat({ hold.account, hold.key_id, hold.month, hold.model, whole(hold.held), whole(hold.seen) }, '|')
end

local function decode_hold(text)
  local account, key_id, month, model, held, seen =
    string.match(text, '^([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)$')
  return {
    account = account, key_id = key_id, month = month, model = model,
    held = number(held), seen = number(seen),
  }
end

-- Adds `sign` times the hold to what is held, and to the requests in flight.
local function count_hold(account_key, key_key, hold, sign)
  redis.call('HINCRBY', account_key, 'held', whole(sign * hold.held))
  redis.call('HINCRBY', key_key, 'in_flight', sign)
  if redis.call('HINCRBY', key_key, 'held:' .. hold.month, whole(sign * hold.held)) == 0 then
    redis.call('HDEL', key_key, 'held:' .. hold.month)
  end
end

-- What balance and cap have room for, besides all that is held. Below 0 after a chargeback or a lowered cap.
local function find_room(account_key, key_key, month)
  local balance, account_held = unpack(redis.call('HMGET', account_key, 'balance', 'held'))
  local cap, spent, key_held =
    unpack(redis.call('HMGET', key_key, 'cap', 'spent:' .. month, 'held:' .. month))
  local room = number(balance) - number(account_held)
  if cap then room = math.min(room, number(cap) - number(spent) - number(key_held)) end
  return room
end

-- Takes `wanted` from the balance. What was held is covered; more than that only as far as balance and cap
-- have room that nobody else holds. Answers what was charged, what was not, and the new balance.
local function charge(account_key, key_key, month, held, wanted)
  local balance = number(redis.call('HGET', account_key, 'balance'))
  local charged = wanted
  if wanted > held then
    charged = math.max(held, math.min(wanted, find_room(account_key, key_key, month)))
  end
  if charged ~= 0 then
    redis.call('HINCRBY', key_key, 'spent:' .. month, whole(charged))
    redis.call('HINCRBY', account_key, 'balance', whole(-charged))
  end
  return charged, wanted - charged, balance - charged
end

local function keep_marks(done_key)
  if redis.call('TTL', done_key) < DONE_KEEP_MIN_S then redis.call('EXPIRE', done_key, DONE_KEEP_S) end
end

-- What became of a request: the micros it was charged, with an x in front when its lease had run out.
local function mark_done(done_key, request_id, mark)
  redis.call('HSET', done_key, request_id, mark)
  keep_marks(done_key)
end

-- Equal field names in every entry: the stream stores them once.
local function enter(ledger, entry)
  redis.call('XADD', ledger, '*', 'kind', entry.kind, 'request', entry.request, 'account', entry.account,
    'key', entry.key_id, 'model', entry.model, 'month', entry.month, 'held', whole(entry.held),
    'charged', whole(entry.charged), 'short', whole(entry.short), 'balance', whole(entry.balance),
    'usage', entry.usage)
end
