#!lua flags=allow-oom
--[[
  Sweep: ends holds whose lease has run out, because nobody is left who would; charges the last
  cost that was noted.

  KEYS  holds, leases, ledger
  ARGV  prefix, count_max
  Uses  numbers, clock, names, holds, money
  Reply {swept, charged_micros}

  The names of accounts, keys and marks come from the holds and have the same hash tag.
]]
local prefix = ARGV[1]
local swept, total = 0, 0

local function expire(request_id, hold)
  local account, key_id = string.match(hold.payer, '^([^|]*)|([^|]*)')
  local account_key, key_key = account_name(prefix, account), key_name(prefix, key_id)
  local charged, short, balance = charge(account_key, key_key, hold, math.min(hold.seen, hold.held))
  mark_done(done_name(prefix, request_id), request_id, 'x' .. whole(charged))
  enter(KEYS[3], 'expired', request_id, hold.payer, hold.held, charged, short, balance, '')
  swept, total = swept + 1, total + charged
end

local due = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', whole(now_ms()), 'LIMIT', 0, ARGV[2])
for _, request_id in ipairs(due) do
  local text = redis.call('HGET', KEYS[1], request_id)
  redis.call('ZREM', KEYS[2], request_id)
  redis.call('HDEL', KEYS[1], request_id)
  if text then expire(request_id, decode_hold(text)) end
end
return { swept, total }
