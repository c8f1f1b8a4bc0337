#!lua flags=no-writes
--[[
  Account: reports what is left of the limits that all keys of an account, or of one of its groups, meet,
  and takes nothing from any.

  KEYS  account, whole
  ARGV  prefix, account_id, group_id, plans
  Uses  numbers, clock, names, window, plans
  Lists numbers, names, subjects, window, periods, rows, events, limits, levels, demands
  Reply {'described', now_ms, limit, count, reset_ms}
         then level, unit, window, amount, counted, held and reset_ms of each limit of the lists

  plans are as admit.lua has them. group_id is empty for the account alone.
]]
local account = KEYS[1]
local prefix, account_id, group_id, plans = unpack(ARGV)
local now = now_ms()

local plan, account_window, account_limits = unpack(redis.call('HMGET', account, 'plan', 'window', 'limits'))
local window, limit, plan_limits = find_plan(plans, plan)
local by_account = read_window(prefix, account_id, account_window, limit, now, window)

local reply = { 'described', now, limit, by_account.count, by_account.reset }
-- What a key has that is in the group, and has nothing of its own.
local key_limits = group_id .. '|||'
local account_list = (account_limits or '') .. plan_limits
local listing = lists()
local limits, _, at = listing.read_levels(prefix, '', '', key_limits, account, account_id, account_list, nil, now)
listing.describe_limits(reply, limits, at)
return reply
