#!lua flags=allow-oom
--[[
  Credit: adds to the balance of an account, or takes from it, once for each payment.

  KEYS  account, payments, ledger
  ARGV  account_id, payment_id, micros, kind, is_forced, note
  Uses  numbers, money
  Reply {'credited', balance_micros}
        {'repeated', balance_micros}  this payment has been entered before
        {'conflict', micros}  this payment has been entered with another amount
        {'missing'}  no such account
        {'reserved', balance_micros, held_micros}  running requests need what would be taken
        {'too_much', balance_micros}
        {'invalid'}  a number that is none

  kind is topup, refund or adjustment. is_forced is '1' for what has happened already, such as
  a chargeback: the balance may then fall below what is held, and below zero.
]]
local BALANCE_MAX = 8e15

local account_id, payment_id, micros = ARGV[1], ARGV[2], tonumber(ARGV[3])
if not micros or not is_amount(math.abs(micros)) then return { 'invalid' } end
local version, old_balance, held = unpack(redis.call('HMGET', KEYS[1], 'version', 'balance', 'held'))
if not version then return { 'missing' } end

local payment = account_id .. ':' .. payment_id
local entered = redis.call('HGET', KEYS[2], payment)
if entered then
  if number(entered) ~= micros then return { 'conflict', number(entered) } end
  return { 'repeated', number(old_balance) }
end

local balance = number(old_balance) + micros
if math.abs(balance) > BALANCE_MAX then return { 'too_much', number(old_balance) } end
if micros < 0 and balance < number(held) and ARGV[5] ~= '1' then
  return { 'reserved', number(old_balance), number(held) }
end
-- The entry first: the two records have been read above, and so can be written.
enter(KEYS[3], ARGV[4], payment_id, account_id .. '|||', '0', whole(-micros), '0', whole(balance), ARGV[6])
redis.call('HSET', KEYS[1], 'balance', whole(balance))
redis.call('HSET', KEYS[2], payment, whole(micros))
return { 'credited', balance }
