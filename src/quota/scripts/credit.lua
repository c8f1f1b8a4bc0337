#!lua flags=allow-oom
--[[
  Credit: adds to the balance of an account, or takes from it, once for each payment.

  KEYS  account, payments, ledger, whole
  ARGV  prefix, account_id, payment_id, micros, kind, is_forced, note, low_micros
  Uses  numbers, clock, money, periods, events
  Reply {'credited', balance_micros}
        {'repeated', balance_micros}  this payment was entered before
        {'conflict', micros}  this payment was entered with another amount
        {'missing'}  no such account
        {'reserved', balance_micros, held_micros}  running requests need what would be taken
        {'too_much', balance_micros}
        {'invalid'}  micros is not a valid number

  kind is topup or adjustment. is_forced is '1' for a payment that was entered before and may have been
  lost in a failover: then the balance may fall below what is held, and below zero. low_micros is the
  balance below which one is low; 0 for none.
]]
local BALANCE_MAX = 8e15

local account, payments, ledger = unpack(KEYS)
local prefix, account_id, payment_id, micros, kind, is_forced, note, low_micros = unpack(ARGV)
micros = tonumber(micros)
if not micros or not is_amount(math.abs(micros)) then return { 'invalid' } end
local version, old_balance, held, low = unpack(redis.call('HMGET', account, 'version', 'balance', 'held', 'low'))
if not version then return { 'missing' } end

local payment = account_id .. ':' .. payment_id
local entered = redis.call('HGET', payments, payment)
if entered then
  if number(entered) ~= micros then return { 'conflict', number(entered) } end
  return { 'repeated', number(old_balance) }
end

local balance = number(old_balance) + micros
if math.abs(balance) > BALANCE_MAX then return { 'too_much', number(old_balance) } end
if micros < 0 and balance < number(held) and is_forced ~= '1' then
  return { 'reserved', number(old_balance), number(held) }
end
-- The entry comes first: the two records have been read above, so their writes cannot fail.
enter(ledger, kind, payment_id, account_id .. '|||', '0', whole(-micros), '0', whole(balance), note)
redis.call('HSET', account, 'balance', whole(balance))
redis.call('HSET', payments, payment, whole(micros))
low = tonumber(low or low_micros) or 0
if micros < 0 then
  telling().tell_fallen(prefix, account, low, number(old_balance), balance, number(held), account_id .. '|', now_ms())
elseif micros > 0 then
  telling().rearm(prefix, account, account_id, payment_id)
end
return { 'credited', balance }
