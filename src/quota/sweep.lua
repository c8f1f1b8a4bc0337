#!lua flags=allow-oom
--[[
  Sweep: ends holds whose lease has run out, because nobody is left who would; charges the last
  cost that was noted.

  KEYS  holds, ledger
  ARGV  prefix, cursor, seen_max
  Uses  numbers, clock, names, holds, money
  Reply {cursor, swept, charged_micros}

  Looks at some of the holds, about seen_max of them; the cursor of the reply goes on from there, and '0' begins
  and ends. No index says whose lease ends next: it would be written twice for each request, and few wait for long.
  The names of accounts, keys and marks come from the holds and have the same hash tag.
]]
local prefix = ARGV[1]
local swept, total = 0, 0
local now = now_ms()

local function expire(request_id, hold)
  local account, key_id = string.match(hold.payer, '^([^|]*)|([^|]*)')
  local account_key, key_key = account_name(prefix, account), key_name(prefix, key_id)
  local charged, short, balance = charge(account_key, key_key, hold, math.min(hold.seen, hold.held))
  mark_done(done_name(prefix, request_id), request_id, 'x' .. whole(charged))
  enter(KEYS[2], 'expired', request_id, hold.payer, hold.held, charged, short, balance, '')
  swept, total = swept + 1, total + charged
end

local cursor, found = unpack(redis.call('HSCAN', KEYS[1], ARGV[2], 'COUNT', ARGV[3]))
for at = 1, #found, 2 do
  local request_id, text = found[at], found[at + 1]
  if number(string.match(text, '^%d+')) <= now then
    redis.call('HDEL', KEYS[1], request_id)
    expire(request_id, decode_hold(text))
  end
end
return { cursor, swept, total }
