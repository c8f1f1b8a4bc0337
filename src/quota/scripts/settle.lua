#!lua flags=allow-oom
--[[
  Settle: ends the holds of requests of one payer, one after the other, and charges what each cost, once.

  KEYS  account, key, holds, renewals, ledger, done
  ARGV  payer, warn_at, low_micros
  Each  request_id, actual_micros, first_tried_ms, usage, extras
  Uses  numbers, clock, holds, money
  Lists numbers, periods, rows, events, corrections
  Reply {kind, charged_micros, short_micros, balance_micros}
        {'repeated', charged_micros}  it was settled before; nothing happens
        {'too_old'}  it may have been settled before, and its mark may be gone; nothing happens
        {'invalid'}  a number is not valid; nothing happens

  warn_at is the share of a limit that blocks from which it warns, low_micros the balance below which one is low.
  payer is account|key|month|model, as in the holds, and extras are those of the admission. For several
  requests the reply is a list of their replies. An unreadable hold counts as lost.

   held ──▶ charge    cost something           ──▶ repeated
        ├─▶ release   cost nothing             ──▶ repeated
        └─▶ expired (sweep.lua) ──▶ late       the difference ──▶ repeated
   lost in a failover ──▶ orphan               all of it      ──▶ repeated
]]
local account, key, holds, renewals, ledger, done = unpack(KEYS)
local payer, warn_at, low_micros = unpack(ARGV, 1, 3)

-- Returns the reply if nothing is to be charged. Otherwise returns no reply, and then how the
-- request ends: kind, what it was charged already, its hold, and payer, month, held, due and extras
-- of the hold. `due` is nil without a readable hold.
local function find_end(request_id, wanted, first_tried_ms)
  if not is_amount(wanted) then return { 'invalid' } end
  local existing = redis.call('HGET', holds, request_id)
  if existing then
    local of_payer, month, held, _, due, extras = decode_hold(existing)
    if of_payer then
      return nil, wanted == 0 and 'release' or 'charge', 0, existing, of_payer, month, held, due, extras
    end
  end

  local kind, already = 'orphan', 0
  local mark = redis.call('HGET', done, request_id)
  if mark then
    local expired_charge = string.match(mark, '^x(%d+)$')
    if not expired_charge then return { 'repeated', tonumber(mark) or 0 } end
    kind, already = 'late', number(expired_charge)
  else
    local AGE_MAX_MS = 6900000 -- Five minutes less than `keep_marks` of money.lua keeps a mark.
    local first_tried = tonumber(first_tried_ms)
    if not is_amount(first_tried) then return { 'invalid' } end
    if now_ms() - first_tried > AGE_MAX_MS then return { 'too_old' } end
  end
  return nil, kind, already, existing, payer, string.match(payer, '^[^|]*|[^|]*|([^|]*)'), '0'
end

-- An error keeps what is written and skips the rest. So everything that can fail comes before the
-- first write of a request: its own numbers are checked, records are read only when no amount waits
-- to be written, and a Redis key of a wrong type fails for the first request.
local replies, listing, opened = {}, nil, nil
local month, balance, balance_text, account_held, in_flight, key_held, spent, low
for first = 4, #ARGV, 5 do
  local request_id, actual_micros, first_tried_ms, usage, extras = unpack(ARGV, first, first + 4)
  local wanted = tonumber(actual_micros)
  local reply, kind, already, existing, of_payer, of_month, held_text, due, held_extras =
    find_end(request_id, wanted, first_tried_ms)
  if not reply then
    if month ~= of_month then
      if month then write_amounts(account, key, month, balance_text, account_held, in_flight, key_held, spent) end
      balance, account_held, in_flight, key_held, spent, low = read_amounts(account, key, of_month)
      month, low = of_month, tonumber(low or low_micros) or 0
    end
    local held = held_text + 0
    account_held, key_held = account_held - held, key_held - held
    if due then in_flight = in_flight - 1 end
    wanted = wanted - already
    local charged = limit_to_room(wanted, held, key, balance, account_held, key_held, spent)
    extras = held_extras or extras
    if extras ~= '' then
      if not opened then listing, opened = listing or lists(), {} end
      listing.warn_from(warn_at)
      local prefix = string.sub(holds, 1, -#'holds' - 1)
      charged = listing.settle_levels(opened, prefix, key, account, extras, kind, already, held, charged, usage,
        now_ms())
    end
    local short, charged_text = wanted - charged, whole(charged)
    local before = balance
    balance, spent = balance - charged, spent + charged
    balance_text = whole(balance)
    enter(ledger, kind, request_id, of_payer, held_text, charged_text, short == 0 and '0' or whole(short),
      balance_text, usage)
    redis.call('HSET', done, request_id, already == 0 and charged_text or whole(already + charged))
    if existing then redis.call('HDEL', holds, request_id) end
    if due == '' then redis.pcall('ZREM', renewals, request_id) end
    local is_fallen = balance < low and before >= low or balance <= 0 and before > 0
    if is_fallen or charged > held then
      listing = listing or lists()
      listing.warn_from(warn_at)
      local prefix, owner = string.sub(holds, 1, -#'holds' - 1), string.match(of_payer, '^[^|]*|[^|]*')
      if is_fallen then listing.telling().tell_fallen(prefix, account, low, before, balance, account_held, owner, now_ms()) end
      if charged > held then
        listing.telling().tell_charged(prefix, key, spent - charged + key_held + held, spent + key_held, key_held, owner, month,
          now_ms())
      end
    end
    reply = { kind, charged, short, balance }
  end
  replies[#replies + 1] = reply
end

if month then
  write_amounts(account, key, month, balance_text, account_held, in_flight, key_held, spent)
  keep_marks(done)
  if opened then
    listing.write_states(opened)
    listing.tell_crossed(string.sub(holds, 1, -#'holds' - 1), string.match(payer, '^[^|]*|[^|]*'), now_ms())
  end
end
return #replies == 1 and replies[1] or replies
