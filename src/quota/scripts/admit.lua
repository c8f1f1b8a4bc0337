#!lua
--[[
  Admit: lets requests of some keys in, those of a key one after the other, and holds what each may cost, or says why
  not and changes nothing for it.

  KEYS  holds, whole
  ARGV  plans
  Each  asker, model_names, request_id, numbers
  Uses  numbers, clock, month, names, digest, window, plans, holds
  Lists numbers, names, subjects, window, periods, rows, events, limits, levels, demands
  Reply {'admitted', now_ms, limit, left, reset_ms, account_id, month, held_micros, credits_left}  or with extras, output_held, …: then level, unit, window, amount, left and reset_ms of the tightest limit of requests and of each unit of tokens
        {'unknown'}  no such key, or another secret
        {'revoked'} {'expired'} {'suspended'}
        {'model'}  not among the models of the key
        {'finished'}  this request was settled already
        {'invalid'}  a number of the request or of its hold is not valid; or there is no list to enter the hold
        {'rate', now_ms, limit, 0, reset_ms, 'key' or 'account', wait_ms}
        {'in_flight', now_ms, limit, left, reset_ms, in_flight_max}
        {'cap', now_ms, limit, left, reset_ms, cap, spent, held}
        {'balance', now_ms, limit, left, reset_ms, balance, held}
        {'limit', now_ms, limit, left, reset_ms, level, unit, window, amount, counted, held, wait_ms, free_ms}  free_ms: when nothing of the limit will count any more
        {'too_large', now_ms, limit, left, reset_ms, level, unit, window, amount, needed}
        {'user_missing'}  the request must name its end user
        {'name_user'}  the call must name the end user
        {'users_full'}  the account has as many end users as it may have

  plans are the window of requests in ms, the share from which limits warn, and of each plan its requests and its
  further limits: '60000,0.8|starter=60;|pro=300;t,60000,400000,b;|'. A plan that is not there counts as the first.
  asker is prefix, key_id, digest and user, each with a zero byte after it; for a further request of the same asker in
  the same minute it is empty. user is the digest of the end user, a bar and how many the account may have; empty if the
  request names none, and ? if the call leaves it out.
  numbers are doubles: hold_micros, hold_least_micros, lease_ms, and tokens: of the input, of the output, of the shortest
  output, and 1 if the output may become longer than that. model_names are the pinned id and then its aliases, separated
  by commas. If less than hold_micros is free, but at least hold_least_micros, all that is free is held; likewise for
  tokens of the output. credits_left is what the key could spend before the request, as if nothing was held: of the
  balance, or of its cap if that has less. A request is admitted only once: a second call gets the same reply. The reply
  is a list of the replies to all requests. What those of an asker share is read once and written once, before anything of
  the next asker is read. On a Cluster all askers of a run are of one bucket, which holds leads to.
]]
local plans = ARGV[1]
local now = now_ms()
local month = month_of(now)
local held_field = 'held:' .. month
-- Most accounts of a run have the same plan.
local known_plan, window, account_limit, plan_limits, warn_at
local replies, listing = {}, nil

local function is_allowed(models, model_names)
  for name in string.gmatch(model_names, '[^,]+') do
    if string.find(models, ',' .. name .. ',', 1, true) then return true end
  end
  return false
end

local function crosses(before, after, amount)
  local line = amount * warn_at
  return after >= line and before < amount and (before < line or after >= amount)
end

-- All requests of one asker, then those of the next one.
local first = 2
while first <= #ARGV do
  local last, denial = first, nil
  while ARGV[last + 4] == '' do last = last + 4 end
  repeat
    local asker, _, first_id = unpack(ARGV, first, first + 2)
    local prefix, key_id, digest, user = struct.unpack('ssss', asker)
    local key, holds, leases = key_name(prefix, key_id), holds_name(prefix), leases_name(prefix)
    local done = done_name(prefix, first_id)

    local status, account_id, key_digest, expires, models, key_rpm, in_flight, in_flight_max, cap, spent, key_held,
      key_window, key_limits =
      unpack(redis.call('HMGET', key, 'status', 'account', 'digest', 'expires', 'models', 'rpm',
        'in_flight', 'in_flight_max', 'cap', 'spent:' .. month, held_field, 'window', 'limits'))
    if not status or not is_digest_of(key, key_digest, digest, now) then denial = { 'unknown' } break end
    if status ~= 'active' then denial = { 'revoked' } break end
    if expires and number(expires) <= now then denial = { 'expired' } break end

    local account = account_name(prefix, account_id)
    local account_status, plan, balance, account_held, account_window, account_limits =
      unpack(redis.call('HMGET', account, 'status', 'plan', 'balance', 'held', 'window', 'limits'))
    if account_status ~= 'active' then denial = { 'suspended' } break end

    if not window or plan ~= known_plan then
      known_plan, window, account_limit, plan_limits, warn_at = plan, find_plan(plans, plan)
      warn_at = warn_at + 0
    end
    local key_limit = number(key_rpm)
    local account_list = (account_limits or '') .. plan_limits
    local by_key = read_window(prefix, key_id, key_window, key_limit, now, window)
    local by_account = read_window(prefix, account_id, account_window, account_limit, now, window)
    in_flight, balance, spent, cap = number(in_flight), number(balance), number(spent), cap and number(cap)
    account_held, key_held = number(account_held), number(key_held)
    in_flight_max = in_flight_max and number(in_flight_max)
    local credits_left = cap and math.min(balance, cap - spent) or balance

    -- Nil if no level has a list of limits.
    local limits, subjects, at, group_id, user_id
    if key_limits or account_list ~= '' then
      listing = listing or lists()
      listing.warn_from(warn_at)
      limits, subjects, at, group_id, user_id =
        listing.read_levels(prefix, key, key_id, key_limits, account, account_id, account_list, user, now)
      if not limits then denial = { subjects } break end
      if #limits == 0 then limits = nil end
    end
    local extras_without_limits = (group_id or '') ~= '' and '|,' .. group_id .. ',' or ''

    -- An error keeps what is written and skips the rest. So everything that can fail comes before
    -- the first hold: what the requests share has been read above, a request's own numbers are
    -- checked, and a Redis key of a wrong type fails for the first request.
    -- `refused` has the last refusal of each limit that is told of.
    local is_changed, refused = false, nil
    local key_counted, account_counted, cap_counted = by_key.count, by_account.count, spent + key_held
    for place = first, last, 4 do
      local _, model_names, request_id, numbers = unpack(ARGV, place, place + 3)
      local wanted, least, lease = struct.unpack('<ddd', numbers)
      local reply
      if not (is_amount(wanted) and is_amount(least) and is_amount(lease)) then
        reply = { 'invalid' }
      elseif models and not is_allowed(models, model_names) then
        reply = { 'model' }
      else
        local key_wait, account_wait = 0, 0
        if key_limit > 0 and by_key.count >= key_limit then
          key_wait = find_wait(by_key, prefix, key_id, key_limit, now, window)
        end
        if by_account.count >= account_limit then
          account_wait = find_wait(by_account, prefix, account_id, account_limit, now, window)
        end
        -- Clients are told of the limit that they will meet first.
        local limit, met = account_limit, by_account
        if key_limit > 0 and key_limit - by_key.count <= account_limit - by_account.count then
          limit, met = key_limit, by_key
        end
        local left, reset = math.max(0, limit - met.count), met.reset

        -- A balance below 0 or a lowered cap refuses nobody who needs no credits.
        local balance_room = math.max(0, balance - account_held)
        local cap_room = cap and math.max(0, cap - spent - key_held) or math.huge
        local credits_room = math.huge
        local refusal, listed, input, output
        if limits then
          input, output, credits_room, listed = listing.meet_limits(limits, least, numbers, at)
        end
        -- No wait and no payment would help who asks for more than a limit allows at all.
        if listed and listed[1] == 'too_large' then
          refusal = { 'too_large', now, limit, left, reset, unpack(listed, 2) }
        elseif key_wait > 0 or account_wait > 0 then
          if key_wait >= account_wait then
            refusal = { 'rate', now, key_limit, 0, by_key.reset, 'key', key_wait }
          else
            refusal = { 'rate', now, account_limit, 0, by_account.reset, 'account', account_wait }
          end
        elseif in_flight_max and in_flight >= in_flight_max then
          refusal = { 'in_flight', now, limit, left, reset, in_flight_max }
        elseif listed then
          refusal = { listed[1], now, limit, left, reset, unpack(listed, 2) }
        elseif cap_room < least then
          refusal = { 'cap', now, limit, left, reset, cap, spent, key_held }
        elseif balance_room < least then
          refusal = { 'balance', now, limit, left, reset, balance, account_held }
        end

        -- A request that was admitted before is not refused now.
        local existing = refusal and redis.call('HGET', holds, request_id)
        local held = math.min(wanted, cap_room, balance_room, credits_room)
        local extras = limits and listing.encode_extras(at, group_id, user_id, input, output, numbers)
          or extras_without_limits
        if not existing then
          if redis.call('HEXISTS', done, request_id) == 1 then
            reply = { 'finished' }
          elseif refusal then
            reply = refusal
            local kind = refusal[1]
            if kind == 'limit' or kind == 'cap' or kind == 'balance' then
              refused = refused or {}
              refused[kind == 'limit' and refusal[6] .. refusal[7] .. refusal[8] or kind] = refusal
            end
          else
            local hold = account_id .. '|' .. key_id .. '|' .. month .. '|' .. string.match(model_names, '^[^,]*')
              .. '|' .. whole(held) .. '|0|' .. whole(now + lease) .. extras
            if redis.call('HSETNX', holds, request_id, hold) == 0 then
              existing = redis.call('HGET', holds, request_id)
            elseif type(redis.pcall('RPUSH', leases, request_id)) ~= 'number' then
              -- No sweep would find this hold.
              redis.call('HDEL', holds, request_id)
              reply = { 'invalid' }
            end
          end
        end
        if existing then
          local payer, held_month, already_held, _, _, held_extras = decode_hold(existing)
          reply = { 'invalid' }
          if payer then
            local output_held = string.match(held_extras, ',(%d+),%d$')
            reply = { 'admitted', now, limit, left, reset, account_id, held_month, already_held + 0, credits_left, held_extras, output_held }
          end
        elseif not reply then
          in_flight, key_held, account_held = in_flight + 1, key_held + held, account_held + held
          take_place(by_account, now, window)
          if key_limit > 0 then take_place(by_key, now, window) end
          is_changed = true
          reply = { 'admitted', now, limit, math.max(0, left - 1), window, account_id, month, held, credits_left }
          if extras ~= '' then reply[10] = string.sub(extras, 2) end
          if limits then
            listing.hold_in_limits(limits, listing.by_unit(1, input, output, held), at)
            reply[11] = output
            listing.add_tightest(reply, limits, at)
          end
        end
      end
      replies[#replies + 1] = reply
    end

    if is_changed then
      if limits then listing.write_levels(prefix, account_id, limits, subjects, at) end
      account_window = write_window(by_account, prefix, account_id, now, window)
      redis.call('HSET', account, 'held', whole(account_held), 'window', account_window)
      if key_limit > 0 then
        key_window = write_window(by_key, prefix, key_id, now, window)
        redis.call('HSET', key, 'in_flight', whole(in_flight), held_field, whole(key_held), 'window', key_window)
      else
        redis.call('HSET', key, 'in_flight', whole(in_flight), held_field, whole(key_held))
      end

      local counted_by_cap = spent + key_held
      local is_capped = cap and crosses(cap_counted, counted_by_cap, cap)
      local is_rated = crosses(account_counted, by_account.count, account_limit)
        or crosses(key_counted, by_key.count, key_limit)
      if limits or is_rated or is_capped then
        local owner = account_id .. '|' .. key_id
        listing = listing or lists()
        listing.warn_from(warn_at)
        if is_rated then
          listing.note_crossing('account', account_id, 'r', window, account_limit, account_counted, by_account.count, 0, now)
          listing.note_crossing('key', key_id, 'r', window, key_limit, key_counted, by_key.count, 0, now)
        end
        listing.tell_crossed(prefix, owner, now)
        if is_capped then
          local kind = counted_by_cap >= cap and 'r' or 'w'
          listing.telling().tell_cap(prefix, key_id, month, cap, kind, counted_by_cap, key_held, owner, now)
        end
      end
    end
    if refused then
      for _, refusal in pairs(refused) do
        -- Most refusals by the cap or the balance were told before; `events.lua` has the names.
        local kind, mark = refusal[1], prefix .. 'told:'
        if kind == 'cap' then
          mark = mark .. 'r|cap|' .. key_id .. '|c|3|' .. whole(cap) .. '|' .. month
        elseif kind == 'balance' then
          mark = mark .. 'x|account|' .. account_id .. '|c||0'
        end
        if kind == 'limit' or redis.call('EXISTS', mark) == 0 then
          listing = listing or lists()
          listing.telling().tell_refused(prefix, refusal, limits, account, account_id, key_id, month, now, at)
        end
      end
    end
  until true
  if denial then
    for _ = first, last, 4 do replies[#replies + 1] = denial end
  end
  first = last + 4
end
return replies
