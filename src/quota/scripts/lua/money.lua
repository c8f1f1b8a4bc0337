-- Holds, charges and the ledger. For each account, and for each key and month:
--   held = sum of its holds,   held <= balance,   spent + held <= cap
-- The first is always true. No request breaks the other two, but a forced payment (credit.lua) may
-- leave less balance than is held, and a lowered cap may be below what was spent and is held.

-- The mark of a settled request is what it was charged, in micros. It begins with x if the lease
-- had run out; then the field `request_id:extras` has what its hold counted in lists of limits. A
-- field of its own, since nodes of the version before read a mark as a whole. A mark stays for at
-- least KEEP_MIN_S, which settle.lua relies on; KEEP_S is in books/stream/late-entries.ts too.
local function keep_marks(done)
  local KEEP_S, KEEP_MIN_S = 10800, 7200
  if redis.call('TTL', done) < KEEP_MIN_S then redis.call('EXPIRE', done, KEEP_S) end
end

-- The amounts of an account and of one of its keys in a month are read once and written once,
-- however many requests are charged in between. That is most of what a settlement costs Redis.
local function read_amounts(account, key, month)
  local balance, account_held, low = unpack(redis.call('HMGET', account, 'balance', 'held', 'low'))
  local in_flight, key_held, spent =
    unpack(redis.call('HMGET', key, 'in_flight', 'held:' .. month, 'spent:' .. month))
  return number(balance), number(account_held), number(in_flight), number(key_held), number(spent), low
end

-- Returns how much of `wanted` may be charged or held. `covered` is what is held for the request
-- already; the caller has taken it off both held amounts. More is allowed only as far as balance
-- and cap have room beside all that is held. That room is below 0 after a chargeback or a lowered
-- cap. This function must not fail, since other requests of the run may have been written: an
-- unreadable cap leaves no room.
local function limit_to_room(wanted, covered, key, balance, account_held, key_held, spent)
  if wanted <= covered then return wanted end
  local room, cap = balance - account_held, redis.call('HGET', key, 'cap')
  if cap then room = math.min(room, (tonumber(cap) or 0) - spent - key_held) end
  return math.max(covered, math.min(wanted, room))
end

-- `balance` is a text, because the ledger needs the same text.
local function write_amounts(account, key, month, balance, account_held, in_flight, key_held, spent)
  redis.call('HSET', account, 'held', whole(account_held), 'balance', balance)
  local held_field, spent_field = 'held:' .. month, 'spent:' .. month
  if key_held == 0 then
    redis.call('HSET', key, 'in_flight', whole(in_flight), spent_field, whole(spent))
    redis.call('HDEL', key, held_field)
  else
    redis.call('HSET', key, 'in_flight', whole(in_flight), spent_field, whole(spent), held_field, whole(key_held))
  end
end

-- An entry is one text, which `books/writing/decode-entry.ts` takes apart: eleven fields cost
-- Redis twice as much. The request comes last, since the id of a payment is any text. `usage` is
-- the note of a payment. All amounts are texts.
local function enter(ledger, kind, request_id, payer, held, charged, short, balance, usage)
  local entry = kind .. '|' .. payer .. '|' .. held .. '|' .. charged .. '|' .. short .. '|' .. balance
    .. '|' .. request_id
  redis.call('XADD', ledger, '*', 'entry', entry, 'usage', usage)
end
