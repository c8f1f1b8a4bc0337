-- Events: a limit that warns or is reached, a balance that is low or used up. The script that
-- crosses the line raises the event, once in each window: a mark stays until the window has ended;
-- that of a balance stays until a payment or a repair raises the balance. The mark of a low balance
-- has the line that was crossed, since another line may hold later. An event is one text in the
-- stream `events` of the bucket:
--
--   kind|level|subject|unit|window|amount|counted|held|account|key|period|at
--
--   kind     w a limit warns, r a limit is reached, l a balance is low, x a balance is used up,
--            m an account has raised too many events
--   level    key, user, group or account; cap for the monthly cap of a key
--   unit     and window as in `rows.lua`; a balance has no window, and events have no unit
--   counted  what was used and what running requests hold, or the balance
--   period   which window it is, so that an event raised again after a failover is recognized; a
--            window that rolls may be another one by then, since a loss would be worse
--
-- The stream is bounded, since whoever takes the events out may be away for a long time. The hash
-- `events-taken` has the rest: `place` is the last event that the list has, and `lost` counts the
-- later events that were dropped for lack of room. The events of one account in an hour are bounded
-- too, since end users are many: then one event of the kind m says that more are left out. A
-- balance raises few events, and all of them. A wrong type must not keep a script from its other
-- writes, so everything here is `pcall`.
local crossed, warn_at = {}, 1

-- From which share of a limit that blocks it warns.
local function warn_from(share)
  warn_at = tonumber(share) or 1
end

-- Notes what a limit crosses, if it does. Call it when `after` has come to the share that warns. A
-- limit that only warns does so at its amount.
local function note_crossing(level, subject, unit, window, amount, before, after, held, at)
  local kind
  if before < amount and after >= amount then
    kind = unit >= 'a' and 'r' or 'w'
  elseif unit >= 'a' and before < amount * warn_at and after >= amount * warn_at then
    kind = 'w'
  end
  if kind then crossed[#crossed + 1] = { kind, level, subject, string.lower(unit), window, amount, after, math.min(held, after), at } end
end

-- Few requests cross a line, so what tells of it is made only for those.
local function telling()
  local EVENTS_MAX, EVENTS_PER_HOUR_MAX = 1000, 300
  local QUIET_MIN_MS, HOUR_MS, DAYS_31 = 60000, 3600000, 2678400000

  local function is_behind(id, place)
    local ms, number = string.match(id, '^(%d+)-(%d+)$')
    local place_ms, place_number = string.match(place, '^(%d+)-(%d+)$')
    if not place_ms then return true end
    return ms + 0 > place_ms + 0 or ms == place_ms and number + 0 > place_number + 0
  end

  -- Adds an event. The oldest one goes if there are too many.
  local function add(prefix, text)
    local events, taken = prefix .. 'events', prefix .. 'events-taken'
    local length = redis.pcall('XLEN', events)
    if type(length) == 'number' and length >= EVENTS_MAX then
      local place, lost = redis.pcall('HGET', taken, 'place'), 0
      if type(place) ~= 'string' then place = '' end
      for _, entry in ipairs(redis.pcall('XRANGE', events, '-', '+', 'COUNT', whole(length - EVENTS_MAX + 1))) do
        if is_behind(entry[1], place) then lost = lost + 1 end
      end
      redis.pcall('XTRIM', events, 'MAXLEN', whole(EVENTS_MAX - 1))
      if lost > 0 then redis.pcall('HINCRBY', taken, 'lost', whole(lost)) end
    end
    return redis.pcall('XADD', events, '*', 'event', text)
  end

  local function told_of_name(prefix, account_id)
    return prefix .. 'told-of:' .. account_id
  end

  -- Whether the account has told too much in this hour and has said so. Then nothing is written, as
  -- every request that is refused may come here.
  local function is_silent(prefix, owner)
    local count = redis.pcall('HGET', told_of_name(prefix, string.match(owner, '^[^|]*')), 'count')
    return type(count) == 'string' and (tonumber(count) or 0) > EVENTS_PER_HOUR_MAX
  end

  -- Returns whether the account may tell one more event in this hour. The first one too many is
  -- told as such. The hour begins with an event of its own, and a node of the version before notes
  -- no start.
  local function may_tell(prefix, owner, now)
    local account_id = string.match(owner, '^[^|]*')
    local name = told_of_name(prefix, account_id)
    local count = redis.pcall('HINCRBY', name, 'count', '1')
    if type(count) ~= 'number' then return true end
    if count == 1 then
      redis.pcall('PEXPIRE', name, whole(HOUR_MS))
      redis.pcall('HSET', name, 'start', whole(now))
    end
    if count == EVENTS_PER_HOUR_MAX + 1 then
      local start = redis.pcall('HGET', name, 'start')
      local text = table.concat({ 'm', 'account', account_id, '', whole(HOUR_MS), whole(EVENTS_PER_HOUR_MAX),
        whole(count), '0', owner, type(start) == 'string' and start or whole(math.floor(now / HOUR_MS)), whole(now) }, '|')
      add(prefix, text)
    end
    return count <= EVENTS_PER_HOUR_MAX
  end

  -- What differs from window to window is `period`; it is part of the mark if `is_period_marked`.
  local function tell(prefix, kind, level, subject, unit, window, amount, counted, held, owner, period, life, now, is_period_marked)
    local whose = kind .. '|' .. level .. '|' .. subject .. '|' .. unit .. '|' .. window .. '|'
    local what = whose .. whole(amount)
    local mark = prefix .. 'told:' .. (kind == 'l' and whose or what)
    if is_period_marked then mark = mark .. '|' .. period end
    if window ~= '' and is_silent(prefix, owner) then return end
    if kind == 'l' and redis.pcall('GET', mark) ~= whole(amount) then redis.pcall('DEL', mark) end
    local set = redis.pcall('SET', mark, whole(amount), 'NX', 'PX', whole(life))
    if not set or set.err then return end
    if window ~= '' and not may_tell(prefix, owner, now) then
      -- What still refuses requests after the hour is told then.
      redis.pcall('DEL', mark)
      return
    end
    local text = what .. '|' .. whole(counted) .. '|' .. whole(held) .. '|' .. owner .. '|' .. period .. '|' .. whole(now)
    local added = add(prefix, text)
    if type(added) == 'table' then redis.pcall('DEL', mark) end
  end

  local function tell_limit(prefix, event, owner, now)
    local kind, level, subject, unit, window, amount, counted, held, at = unpack(event)
    if window < 4 then
      local start, next_start = periods(window, at)
      tell(prefix, kind, level, subject, unit, window, amount, counted, held, owner, whole(start),
        math.max(QUIET_MIN_MS, next_start - now), now, true)
    else
      -- Its mark lives from now on, so whatever is told after that must have another number.
      local quiet = math.max(window, QUIET_MIN_MS)
      tell(prefix, kind, level, subject, unit, window, amount, counted, held, owner, whole(math.floor(now / quiet)), quiet, now)
    end
  end

  local function tell_cap(prefix, key_id, month, cap, kind, counted, held, owner, now)
    tell(prefix, kind, 'cap', key_id, 'c', 3, cap, counted, held, owner, month, DAYS_31, now, true)
  end

  -- What is charged beyond what was held may cross the cap too.
  local function tell_charged(prefix, key, before, counted, held, owner, month, now)
    local cap = tonumber(redis.pcall('HGET', key, 'cap') or nil)
    if not cap or before >= cap then return end
    local kind = counted >= cap and 'r' or before < cap * warn_at and counted >= cap * warn_at and 'w'
    if kind then tell_cap(prefix, string.match(owner, '[^|]*$'), month, cap, kind, counted, held, owner, now) end
  end

  local function tell_balance(prefix, kind, account, account_id, low, balance, held, owner, now)
    local period = redis.pcall('HGET', account, 'armed')
    tell(prefix, kind, 'account', account_id, 'c', '', low, balance, held, owner,
      type(period) == 'string' and period or '', DAYS_31, now)
  end

  -- The balance has risen, so the account may be told of again. `cause`, such as the id of a
  -- payment, says which fall it is, also if the mark of the last one has run out: what was told
  -- then is known for longer.
  local function rearm(prefix, account, account_id, cause)
    local mark = prefix .. 'told:%s|account|' .. account_id .. '|c||'
    redis.pcall('DEL', string.format(mark, 'x') .. '0', string.format(mark, 'l'))
    redis.pcall('HSET', account, 'armed', string.sub(redis.sha1hex(cause), 1, 16))
  end

  -- A balance that crosses both lines at once is used up.
  local function tell_fallen(prefix, account, low, before, balance, held, owner, now)
    local account_id = string.match(owner, '^[^|]*')
    if before > 0 and balance <= 0 then
      tell_balance(prefix, 'x', account, account_id, 0, balance, held, owner, now)
    elseif low > 0 and before >= low and balance < low then
      tell_balance(prefix, 'l', account, account_id, low, balance, held, owner, now)
    end
  end

  -- Tells of the limit that a request was refused by, from the reply.
  local function tell_refused(prefix, reply, limits, account, account_id, key_id, month, now, at)
    local kind, owner = reply[1], account_id .. '|' .. key_id
    if kind == 'limit' then
      local _, _, _, _, _, level, unit, window, amount, counted, held = unpack(reply)
      window = ({ d = 1, w = 2, m = 3 })[window] or window
      for _, limit in ipairs(limits) do
        local subject = limit[10]
        if subject.level == level and limit[1] == unit and limit[2] == window then
          tell_limit(prefix, { 'r', level, subject.id, unit, window, amount, counted, held, at }, owner, now)
        end
      end
    elseif kind == 'cap' then
      local _, _, _, _, _, cap, spent, held = unpack(reply)
      tell_cap(prefix, key_id, month, cap, 'r', spent + held, held, owner, now)
    else
      tell_balance(prefix, 'x', account, account_id, 0, reply[6], reply[7], owner, now)
    end
  end

  return { tell_limit = tell_limit, tell_cap = tell_cap, tell_charged = tell_charged, tell_fallen = tell_fallen,
    rearm = rearm, tell_refused = tell_refused }
end

-- Tells all that was noted. `owner` is the account and the key, as in `account|key`.
local function tell_crossed(prefix, owner, now)
  if #crossed == 0 then return end
  local teller = telling()
  for index = 1, #crossed do teller.tell_limit(prefix, crossed[index], owner, now) end
  crossed = {}
end
