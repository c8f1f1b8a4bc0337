-- Holds, charges and the ledger. At every instant, for each account and each key and month:
--   held = sum of its holds,   held <= balance,   spent + held <= cap

-- A request that was settled is known for at least DONE_KEEP_MIN_S.
local DONE_KEEP_S = 10800
local DONE_KEEP_MIN_S = 7200

-- What balance and cap have room for, besides all that is held. Below 0 after a chargeback or a lowered cap. It never
-- fails, since others of a run may have been written: a cap that nobody can read has no room.
local function find_room(key_key, balance, account_held, spent, key_held)
  local room, cap = balance - account_held, redis.call('HGET', key_key, 'cap')
  if cap then room = math.min(room, (tonumber(cap) or 0) - spent - key_held) end
  return room
end

-- The mark of a settled request: the micros that it was charged, with an x in front when its lease had run out.
local function keep_marks(done_key)
  if redis.call('TTL', done_key) < DONE_KEEP_MIN_S then redis.call('EXPIRE', done_key, DONE_KEEP_S) end
end

-- The amounts of an account and of one of its keys in a month: read once and written once, however many requests are
-- charged in between. That is most of what a settlement costs Redis.
local function read_amounts(account_key, key_key, month)
  local balance, account_held = unpack(redis.call('HMGET', account_key, 'balance', 'held'))
  local in_flight, key_held, spent =
    unpack(redis.call('HMGET', key_key, 'in_flight', 'held:' .. month, 'spent:' .. month))
  return number(balance), number(account_held), number(in_flight), number(key_held), number(spent)
end

-- How much of `wanted` is charged. What was held for it is covered, and is in neither of the held amounts any more;
-- more than that only as far as balance and cap have room that nobody else holds.
local function find_charge(wanted, held, key_key, balance, account_held, key_held, spent)
  if wanted <= held then return wanted end
  return math.max(held, math.min(wanted, find_room(key_key, balance, account_held, spent, key_held)))
end

-- `balance` comes as a text, since the ledger has it as one too.
local function write_amounts(account_key, key_key, month, balance, account_held, in_flight, key_held, spent)
  redis.call('HSET', account_key, 'held', whole(account_held), 'balance', balance)
  local held_field, spent_field = 'held:' .. month, 'spent:' .. month
  if key_held == 0 then
    redis.call('HSET', key_key, 'in_flight', whole(in_flight), spent_field, whole(spent))
    redis.call('HDEL', key_key, held_field)
  else
    redis.call('HSET', key_key, 'in_flight', whole(in_flight), spent_field, whole(spent), held_field, whole(key_held))
  end
end

-- One text for what `ledger/ledger-entry.ts` takes apart: an entry of eleven fields costs Redis twice as much. The
-- request is its end, since a payment's id is any text; of a payment `usage` is the note. Amounts come as texts.
local function enter(ledger, kind, request, payer, held, charged, short, balance, usage)
  local entry = kind .. '|' .. payer .. '|' .. held .. '|' .. charged .. '|' .. short .. '|' .. balance .. '|' .. request
  redis.call('XADD', ledger, '*', 'entry', entry, 'usage', usage)
end
