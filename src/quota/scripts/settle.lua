#!lua flags=allow-oom
--[[
  Settle: ends the holds of requests of some payers, those of a payer one after the other, and charges what each cost,
  once.

  KEYS  holds, whole
  ARGV  warn_at, low_micros
  Each  who, request_id, actual_micros, last_known_ms, usage, extras
  Uses  numbers, clock, names, holds, money
  Lists numbers, subjects, periods, rows, events, corrections
  Reply {kind, charged_micros, short_micros, balance_micros}
        {'repeated', charged_micros}  it was settled before; nothing happens
        {'too_old'}  it may have been settled before, and its mark may be gone; nothing happens
        {'invalid'}  a number is not valid; nothing happens

  warn_at is the share of a limit that blocks from which it warns, low_micros the balance below which one is low.
  who is prefix, account, key and payer, each with a zero byte after it; for a further request of the same payer in the
  same minute it is empty. payer is account|key|month|model, as in the holds, and extras are those of the admission. The
  reply is a list of the replies to all requests. What those of a payer share is read once and written once, before
  anything of the next payer is read. On a Cluster all payers of a run are of one bucket, which holds leads to. An
  unreadable hold counts as lost.

   held ──▶ charge    cost something           ──▶ repeated
        ├─▶ release   cost nothing             ──▶ repeated
        └─▶ expired (sweep.lua) ──▶ late       the difference ──▶ repeated
   lost in a failover ──▶ orphan               all of it      ──▶ repeated
]]
local warn_at, low_micros = unpack(ARGV, 1, 2)
local replies, listing, now = {}, nil, nil

-- Returns the reply if nothing is to be charged. Otherwise returns no reply, and then how the
-- request ends: kind, what it was charged already, its hold, and payer, month, held, due and extras
-- of the hold. `due` is nil without a readable hold. Those extras are nil if nobody knows them.
local function find_end(holds, done, payer, request_id, wanted, last_known_ms)
  if not is_amount(wanted) then return { 'invalid' } end
  local existing = redis.call('HGET', holds, request_id)
  if existing then
    local of_payer, month, held, _, due, extras = decode_hold(existing)
    if of_payer then
      return nil, wanted == 0 and 'release' or 'charge', 0, existing, of_payer, month, held, due, extras
    end
  end

  local kind, already, expired_extras = 'orphan', 0, nil
  local mark = redis.call('HGET', done, request_id)
  if mark then
    local expired_charge = string.match(mark, '^x(%d+)$')
    if not expired_charge then return { 'repeated', tonumber(mark) or 0 } end
    kind, already = 'late', number(expired_charge)
    -- A renewal that made a lost hold again may have held less than the admission did.
    expired_extras = redis.call('HGET', done, request_id .. ':extras') or nil
  else
    local AGE_MAX_MS = 6900000 -- Five minutes less than KEEP_MIN_S of money.lua.
    local last_known = tonumber(last_known_ms)
    if not is_amount(last_known) then return { 'invalid' } end
    now = now or now_ms()
    if now - last_known > AGE_MAX_MS then return { 'too_old' } end
  end
  return nil, kind, already, existing, payer, string.match(payer, '^[^|]*|[^|]*|([^|]*)'), '0', nil, expired_extras
end

-- All requests of one payer, then those of the next one.
local first = 3
while first <= #ARGV do
  local last = first
  while ARGV[last + 6] == '' do last = last + 6 end
  local who, first_id = unpack(ARGV, first, first + 1)
  local prefix, account_id, key_id, payer = struct.unpack('ssss', who)
  local account, key = account_name(prefix, account_id), key_name(prefix, key_id)
  local holds, ledger, done = holds_name(prefix), ledger_name(prefix), done_name(prefix, first_id)

  -- An error keeps what is written and skips the rest. So everything that can fail comes before the
  -- first write of a request: its own numbers are checked, records are read only when no amount
  -- waits to be written, and a Redis key of a wrong type fails for the first request. What lists of
  -- limits have counted is read for each request, and cannot fail.
  local opened
  local month, balance, balance_text, account_held, in_flight, key_held, spent, low
  for place = first, last, 6 do
    local _, request_id, actual_micros, last_known_ms, usage, extras = unpack(ARGV, place, place + 5)
    local wanted = tonumber(actual_micros)
    local reply, kind, already, existing, of_payer, of_month, held_text, due, held_extras =
      find_end(holds, done, payer, request_id, wanted, last_known_ms)
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
      if counts_in_lists(extras) then
        if not opened then listing, opened = listing or lists(), {} end
        listing.warn_from(warn_at)
        now = now or now_ms()
        charged = listing.settle_levels(opened, prefix, key, account, extras, kind, already, held, charged, usage, now)
      end
      local short, charged_text = wanted - charged, whole(charged)
      local before = balance
      balance, spent = balance - charged, spent + charged
      balance_text = whole(balance)
      enter(ledger, kind, request_id, of_payer, held_text, charged_text, short == 0 and '0' or whole(short),
        balance_text, usage)
      redis.call('HSET', done, request_id, already == 0 and charged_text or whole(already + charged))
      if existing then redis.call('HDEL', holds, request_id) end
      if due == '' then redis.pcall('ZREM', renewals_name(prefix), request_id) end
      local is_fallen = balance < low and before >= low or balance <= 0 and before > 0
      if is_fallen or charged > held then
        listing = listing or lists()
        listing.warn_from(warn_at)
        now = now or now_ms()
        local owner = account_id .. '|' .. key_id
        if is_fallen then listing.telling().tell_fallen(prefix, account, low, before, balance, account_held, owner, now) end
        if charged > held then
          listing.telling().tell_charged(prefix, key, spent - charged + key_held + held, spent + key_held, key_held, owner, month,
            now)
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
      listing.tell_crossed(prefix, account_id .. '|' .. key_id, now)
    end
  end
  first = last + 6
end
return replies
