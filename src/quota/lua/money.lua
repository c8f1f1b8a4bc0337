-- Holds, charges and the ledger. At every instant, for each account and each key and month:
--   held = sum of its holds,   held <= balance,   spent + held <= cap

-- A request that was settled is known for at least DONE_KEEP_MIN_S.
local DONE_KEEP_S = 10800
local DONE_KEEP_MIN_S = 7200

-- What balance and cap have room for, besides all that is held. Below 0 after a chargeback or a lowered cap.
local function find_room(balance, account_held, cap, spent, key_held)
  local room = balance - account_held
  if cap then room = math.min(room, number(cap) - spent - key_held) end
  return room
end

local function keep_marks(done_key)
  if redis.call('TTL', done_key) < DONE_KEEP_MIN_S then redis.call('EXPIRE', done_key, DONE_KEEP_S) end
end

-- Takes `wanted` from the balance, and ends a hold of `held` for this month, where there is one: `ended` is 1 then, else
-- 0. What was held is covered; more than that only as far as balance and cap have room that nobody else holds. Answers
-- what was charged, what was not, and the new balance, also as a text. Each record is read once and written once:
-- that is most of what a settlement costs Redis.
local function charge(account_key, key_key, month, held, ended, wanted)
  local held_field, spent_field = 'held:' .. month, 'spent:' .. month
  local balance, account_held = unpack(redis.call('HMGET', account_key, 'balance', 'held'))
  local in_flight, key_held, spent = unpack(redis.call('HMGET', key_key, 'in_flight', held_field, spent_field))
  balance, account_held = number(balance), number(account_held) - held
  key_held, spent = number(key_held) - held, number(spent)

  local charged = wanted
  if wanted > held then
    local room = find_room(balance, account_held, redis.call('HGET', key_key, 'cap'), spent, key_held)
    charged = math.max(held, math.min(wanted, room))
  end
  balance = balance - charged
  local balance_text = whole(balance)
  redis.call('HSET', account_key, 'held', whole(account_held), 'balance', balance_text)
  in_flight, spent = whole(number(in_flight) - ended), whole(spent + charged)
  if key_held == 0 then
    redis.call('HSET', key_key, 'in_flight', in_flight, spent_field, spent)
    redis.call('HDEL', key_key, held_field)
  else
    redis.call('HSET', key_key, 'in_flight', in_flight, spent_field, spent, held_field, whole(key_held))
  end
  return charged, wanted - charged, balance, balance_text
end

-- What became of a request: the micros it was charged, with an x in front when its lease had run out.
local function mark_done(done_key, request_id, mark)
  redis.call('HSET', done_key, request_id, mark)
  keep_marks(done_key)
end

-- One text for what `ledger/ledger-entry.ts` takes apart: an entry of eleven fields costs Redis twice as much. The
-- request is its end, since a payment's id is any text; of a payment `usage` is the note. Amounts come as texts.
local function enter(ledger, kind, request, payer, held, charged, short, balance, usage)
  local entry = kind .. '|' .. payer .. '|' .. held .. '|' .. charged .. '|' .. short .. '|' .. balance .. '|' .. request
  redis.call('XADD', ledger, '*', 'entry', entry, 'usage', usage)
end
