#!lua flags=allow-oom
--[[
  Settle: ends the holds of requests of one payer, one after the other, and charges what each cost, once.

  KEYS  account, key, holds, renewals, ledger, done
  ARGV  payer
  Each  request_id, actual_micros, first_tried_ms, usage
  Uses  numbers, clock, holds, money
  Reply {kind, charged_micros, short_micros, balance_micros}
        {'repeated', charged_micros}  it has been settled before; nothing happens
        {'too_old'}  nobody can know any more whether it has; nothing happens
        {'invalid'}  a number that is none; nothing happens

  payer is account|key|month|model, as in their holds. Of several requests the reply is a list of theirs. A hold that
  nobody can read counts as lost.

   held ──▶ charge    cost something           ──▶ repeated
        ├─▶ release   cost nothing             ──▶ repeated
        └─▶ expired (sweep.lua) ──▶ late       the difference ──▶ repeated
   lost in a failover ──▶ orphan               all of it      ──▶ repeated
]]
local SETTLE_AGE_MAX_MS = (DONE_KEEP_MIN_S - 300) * 1000

local account_key, key_key = KEYS[1], KEYS[2]
local month, balance, balance_text, account_held, in_flight, key_held, spent
local replies = {}

-- An error would keep what is written and skip the rest. So all that can fail comes before the first write: a request's
-- own numbers are looked at, records are read when no amount is waiting to be written, and a key of a wrong type fails
-- for the first request.
for first = 2, #ARGV, 4 do
  repeat -- `break` goes on with the next request
    local request_id, wanted = ARGV[first], tonumber(ARGV[first + 1])
    if not is_amount(wanted) then
      replies[#replies + 1] = { 'invalid' }
      break
    end
    local kind, ended, already = 'orphan', 0, 0
    local payer, of_month, held_text, due, _
    local existing = redis.call('HGET', KEYS[3], request_id)
    if existing then payer, of_month, held_text, _, due = decode_hold(existing) end
    if payer then
      kind, ended = wanted == 0 and 'release' or 'charge', 1
    else
      local done = redis.call('HGET', KEYS[6], request_id)
      if done then
        local expired_charge = string.match(done, '^x(%d+)$')
        if not expired_charge then
          replies[#replies + 1] = { 'repeated', tonumber(done) or 0 }
          break
        end
        kind, already = 'late', number(expired_charge)
      else
        local first_tried = tonumber(ARGV[first + 2])
        local is_known = is_amount(first_tried)
        if not is_known or now_ms() - first_tried > SETTLE_AGE_MAX_MS then
          replies[#replies + 1] = { is_known and 'too_old' or 'invalid' }
          break
        end
      end
      payer, held_text = ARGV[1], '0'
      of_month = string.match(payer, '^[^|]*|[^|]*|([^|]*)')
    end

    if month ~= of_month then
      if month then
        write_amounts(account_key, key_key, month, balance_text, account_held, in_flight, key_held, spent)
      end
      balance, account_held, in_flight, key_held, spent = read_amounts(account_key, key_key, of_month)
      month = of_month
    end
    local held = held_text + 0
    wanted = wanted - already
    local charged = find_charge(wanted, held, key_key, balance, account_held - held, key_held - held, spent)
    local short, charged_text = wanted - charged, whole(charged)
    balance_text = whole(balance - charged)
    enter(KEYS[5], kind, request_id, payer, held_text, charged_text, short == 0 and '0' or whole(short), balance_text,
      ARGV[first + 3])
    redis.call('HSET', KEYS[6], request_id, already == 0 and charged_text or whole(already + charged))
    if existing then redis.call('HDEL', KEYS[3], request_id) end
    if due == '' then redis.pcall('ZREM', KEYS[4], request_id) end
    account_held, key_held, in_flight = account_held - held, key_held - held, in_flight - ended
    balance, spent = balance - charged, spent + charged
    replies[#replies + 1] = { kind, charged, short, balance }
  until true
end

if month then
  write_amounts(account_key, key_key, month, balance_text, account_held, in_flight, key_held, spent)
  keep_marks(KEYS[6])
end
return #replies == 1 and replies[1] or replies
