#!lua flags=allow-oom
--[[
  Sweep: ends holds whose lease has run out, because nobody is left who would; charges the last
  cost that was noted.

  KEYS  holds, leases, renewals, ledger
  ARGV  prefix, count_max
  Uses  numbers, clock, names, holds, money
  Reply {swept, charged_micros, taken}  how many entries it took off the indexes: where it is
        count_max, there may be more

  The names of accounts, keys and marks come from the holds and have the same hash tag.
]]
local prefix, count_max, now = ARGV[1], number(ARGV[2]), now_ms()
local swept, total, ended = 0, 0, {}

-- A request may be listed twice. A hold that nobody can read stays for `tollgate ledger verify`, and stops no other.
local function expire(request_id, text)
  local payer, month, held, seen = decode_hold(text)
  if not payer or ended[request_id] then return end
  ended[request_id] = true
  local account, key_id = string.match(payer, '^([^|]*)|([^|]*)')
  local account_key, key_key = account_name(prefix, account), key_name(prefix, key_id)
  local balance, account_held, in_flight, key_held, spent = read_amounts(account_key, key_key, month)
  account_held, key_held = account_held - held, key_held - held
  local wanted = math.min(seen, held)
  local charged = find_charge(wanted, held + 0, key_key, balance, account_held, key_held, spent)
  local balance_text = whole(balance - charged)
  local done_key = done_name(prefix, request_id)
  -- First what does no harm alone; the records that come last have been read above, and so can be written.
  enter(KEYS[4], 'expired', request_id, payer, held, whole(charged), whole(wanted - charged), balance_text, '')
  redis.call('HSET', done_key, request_id, 'x' .. whole(charged))
  keep_marks(done_key)
  redis.call('HDEL', KEYS[1], request_id)
  write_amounts(account_key, key_key, month, balance_text, account_held, in_flight - 1, key_held, spent + charged)
  swept, total = swept + 1, total + charged
end

-- Up to the first one that runs and is not due.
local function take_first_leases()
  local ids = redis.call('LRANGE', KEYS[2], 0, count_max - 1)
  if #ids == 0 then return 0 end
  local taken, holds = 0, redis.call('HMGET', KEYS[1], unpack(ids))
  for index, request_id in ipairs(ids) do
    local text = holds[index]
    local due = text and select(5, decode_hold(text)) or ''
    if due ~= '' then
      if number(due) > now then break end
      expire(request_id, text)
    end
    taken = index
  end
  if taken > 0 then redis.call('LTRIM', KEYS[2], taken, -1) end
  return taken
end

local function take_renewals(left)
  local ids = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', whole(now), 'LIMIT', 0, left)
  for _, request_id in ipairs(ids) do
    redis.call('ZREM', KEYS[3], request_id)
    local text = redis.call('HGET', KEYS[1], request_id)
    if text then expire(request_id, text) end
  end
  return #ids
end

local taken = take_first_leases()
taken = taken + take_renewals(count_max - taken)
return { swept, total, taken }
