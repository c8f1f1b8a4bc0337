#!lua flags=no-writes
--[[
  Describe: reports to a key its own limits and what is left of them, and takes nothing from any.

  KEYS  key, whole
  ARGV  prefix, key_id, account_id, user, plans
  Uses  numbers, clock, month, names, window, plans
  Lists numbers, names, subjects, window, periods, rows, events, limits, levels, demands
  Reply {'described', now_ms, month, key_limit, key_count, key_reset_ms,
         account_limit, account_count, account_reset_ms,
         expires, models, in_flight, in_flight_max, cap, spent, held, balance, account_held, …}
         then level, unit, window, amount, counted, held and reset_ms of each limit of the lists

  plans are as admit.lua has them. user is the digest of an end user to describe as well, with a bar after it, or
  empty.
  A limit of 0 means no limit. A field that is not set is an empty text. identify.lua decides whether the key may ask.
]]
local key = KEYS[1]
local prefix, key_id, account_id, user, plans = unpack(ARGV)
local now = now_ms()
local month = month_of(now)

local key_rpm, expires, models, in_flight, in_flight_max, cap, spent, held, key_window, key_limits =
  unpack(redis.call('HMGET', key, 'rpm', 'expires', 'models', 'in_flight', 'in_flight_max',
    'cap', 'spent:' .. month, 'held:' .. month, 'window', 'limits'))
local account = account_name(prefix, account_id)
local plan, balance, account_held, account_window, account_limits =
  unpack(redis.call('HMGET', account, 'plan', 'balance', 'held', 'window', 'limits'))

local window, account_limit, plan_limits = find_plan(plans, plan)
local key_limit = number(key_rpm)
local by_key = read_window(prefix, key_id, key_window, key_limit, now, window)
local by_account = read_window(prefix, account_id, account_window, account_limit, now, window)

local reply = { 'described', now, month, key_limit, by_key.count, by_key.reset,
  account_limit, by_account.count, by_account.reset,
  expires or '', models or '', number(in_flight), in_flight_max or '', cap or '', number(spent),
  number(held), number(balance), number(account_held) }
local account_list = (account_limits or '') .. plan_limits
if key_limits or account_list ~= '' then
  local listing = lists()
  local asked = user ~= '' and user or nil
  local limits, _, at = listing.read_levels(prefix, key, key_id, key_limits, account, account_id, account_list, asked, now)
  listing.describe_limits(reply, limits, at)
end
return reply
