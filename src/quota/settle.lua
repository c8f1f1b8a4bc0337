#!lua flags=allow-oom
--[[
  Settle: ends the hold of a request and charges what it cost, once.

  KEYS  account, key, holds, renewals, ledger, done
  ARGV  payer, request_id, actual_micros, first_tried_ms, usage
  Uses  numbers, clock, holds, money
  Reply {kind, charged_micros, short_micros, balance_micros}
        {'repeated', charged_micros}  it has been settled before; nothing happens
        {'too_old'}  nobody can know any more whether it has; nothing happens

  payer is account|key|month|model, as in its hold.

   held ──▶ charge    cost something           ──▶ repeated
        ├─▶ release   cost nothing             ──▶ repeated
        └─▶ expired (sweep.lua) ──▶ late       the difference ──▶ repeated
   lost in a failover ──▶ orphan               all of it      ──▶ repeated
]]
local SETTLE_AGE_MAX_MS = (DONE_KEEP_MIN_S - 300) * 1000

local request_id, wanted = ARGV[2], number(ARGV[3])

local function finish(kind, payer, month, held, ended, already)
  local charged, short, balance, balance_text = charge(KEYS[1], KEYS[2], month, held + 0, ended, wanted - already)
  local charged_text = whole(charged)
  mark_done(KEYS[6], request_id, already == 0 and charged_text or whole(already + charged))
  enter(KEYS[5], kind, request_id, payer, held, charged_text, short == 0 and '0' or whole(short), balance_text, ARGV[5])
  return { kind, charged, short, balance }
end

local existing = redis.call('HGET', KEYS[3], request_id)
if existing then
  redis.call('HDEL', KEYS[3], request_id)
  local payer, month, held, _, due = decode_hold(existing)
  if due == '' then redis.call('ZREM', KEYS[4], request_id) end
  return finish(wanted == 0 and 'release' or 'charge', payer, month, held, 1, 0)
end

local done = redis.call('HGET', KEYS[6], request_id)
local month = string.match(ARGV[1], '^[^|]*|[^|]*|([^|]*)')
if done then
  local expired_charge = string.match(done, '^x(%d+)$')
  if not expired_charge then return { 'repeated', number(done) } end
  return finish('late', ARGV[1], month, '0', 0, number(expired_charge))
end
if now_ms() - number(ARGV[4]) > SETTLE_AGE_MAX_MS then return { 'too_old' } end
return finish('orphan', ARGV[1], month, '0', 0, 0)
