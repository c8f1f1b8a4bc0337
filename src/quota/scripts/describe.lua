#!lua flags=no-writes
--[[
  Describe: tells a key its own limits and what is left of them, and takes nothing from any.

  KEYS  key
  ARGV  prefix, key_id, account_id, plans
  Uses  numbers, clock, month, names, window, plans
  Reply {'described', now_ms, month, key_limit, key_count, key_reset_ms,
         account_limit, account_count, account_reset_ms,
         expires, models, in_flight, in_flight_max, cap, spent, held, balance, account_held}

  plans are as admit.lua has them.
  A limit of 0 means no limit. A field that is not set is an empty text. identify.lua tells whether the key may ask.
]]
local key = KEYS[1]
local prefix, key_id, account_id, plans = unpack(ARGV)
local now = now_ms()
local month = month_of(now)

local key_rpm, expires, models, in_flight, in_flight_max, cap, spent, held, key_window =
  unpack(redis.call('HMGET', key, 'rpm', 'expires', 'models', 'in_flight', 'in_flight_max',
    'cap', 'spent:' .. month, 'held:' .. month, 'window'))
local plan, balance, account_held, account_window =
  unpack(redis.call('HMGET', account_name(prefix, account_id), 'plan', 'balance', 'held', 'window'))

local window, account_limit = find_plan(plans, plan)
local key_limit = number(key_rpm)
local by_key = read_window(prefix, key_id, key_window, key_limit, now, window)
local by_account = read_window(prefix, account_id, account_window, account_limit, now, window)

return { 'described', now, month, key_limit, by_key.count, by_key.reset,
  account_limit, by_account.count, by_account.reset,
  expires or '', models or '', number(in_flight), in_flight_max or '', cap or '', number(spent),
  number(held), number(balance), number(account_held) }
