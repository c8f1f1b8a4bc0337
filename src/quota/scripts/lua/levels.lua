-- The subjects whose limits a request meets, all in the bucket of their account: the key, the end
-- user, the group of the key, and the account. `rows.lua` says what a list is.

local function users_name(prefix, account_id)
  return prefix .. 'users:' .. account_id
end

-- Whether an account may have one more end user. Those that are forgotten make room.
local function has_room_for_user(prefix, account_id, user_id, users_max, now)
  local users = users_name(prefix, account_id)
  if redis.call('EXISTS', user_name(prefix, user_id)) == 1 then return true end
  redis.call('ZREMRANGEBYSCORE', users, '-inf', whole(now))
  return redis.call('ZCARD', users) < users_max
end

-- Reads the levels of a request. Returns all their limits, the subjects (with the names of those
-- that have no list in `unlisted`), the moment that they count from, group and end user; or no
-- limits, and why the request is refused. The template of the key comes before that of its group.
-- `user` is as admit.lua has it; nil for no request, which counts for no end user, and with no
-- number behind its bar for a question, which makes no end user known.
local function read_levels(prefix, key, key_id, key_limits, account, account_id, account_list, user, now)
  local group_id, required, key_list, template = decode_limits(key_limits)
  local group, group_list, owner, user_id = group_name(prefix, group_id), '', key_id, ''
  if group_id ~= '' then
    local _, group_required, list, group_template = decode_limits(read_field(group, 'limits'))
    group_list, required = list, required or group_required
    if template == '' then template, owner = group_template, group_id end
  end
  if not user or user == '' then
    if user and required then return nil, 'user_missing' end
    template = ''
  elseif template ~= '' then
    if user == '?' then return nil, 'name_user' end
    local digest, users_max = string.match(user, '^([^|]+)|(%d*)$')
    user_id = owner .. ':' .. digest
    if users_max ~= '' and not has_room_for_user(prefix, account_id, user_id, users_max + 0, now) then
      return nil, 'users_full'
    end
  end
  local subjects, seen, is_any_new = { unlisted = {} }, 0, false
  local function add(level, name, id, list)
    if list == '' then
      if id ~= '' then subjects.unlisted[#subjects.unlisted + 1] = name end
      return
    end
    local use = read_state(name)
    local is_known = use and string.sub(use, STATE_BYTES + 1, STATE_BYTES + #list) == list
      and select(2, struct.unpack(STATE, use)) == #list
    if use then seen = math.max(seen, last_seen(use, now)) end
    is_any_new = is_any_new or not is_known
    subjects[#subjects + 1] =
      { level = level, name = name, id = id, list = list, use = use, is_known = is_known, prefix = prefix }
  end
  add('key', key, key_id, key_list)
  add('user', user_name(prefix, user_id), user_id, template)
  add('group', group, group_id, group_list)
  add('account', account, account_id, account_list)
  -- While the clock is behind, time stands still. A new limit must begin after what it does not
  -- count, so it moves time on.
  local limits, at = {}, math.max(now, seen)
  if is_any_new and seen > now then at = seen + 1 end
  for index = 1, #subjects do
    local subject = subjects[index]
    local use, list = subject.use, subject.list
    open_limits(limits, subject, subject.is_known and use or convert_state(list, use, at), at, periods)
  end
  return limits, subjects, at, group_id, user_id
end

-- An end user is forgotten when nothing of it counts any more. So is what a list has counted that
-- was taken off: this request is not in it, and must not be taken off it when it ends.
local function write_levels(prefix, account_id, limits, subjects, at)
  for index = 1, #subjects.unlisted do redis.pcall('HDEL', subjects.unlisted[index], 'use') end
  for index = 1, #subjects do
    local subject = subjects[index]
    local life
    if subject.level == 'user' then
      life = 1000
      for _, limit in ipairs(limits) do
        local window = limit[2]
        local ends = window < 4 and select(2, periods(window, at)) - at or math.ceil(window * (SLICES + 2) / SLICES)
        if limit[10] == subject then life = math.max(life, ends) end
      end
    end
    redis.pcall('HSET', subject.name, 'use', encode_state(limits, subject, at, life))
    if life then
      local users = users_name(prefix, account_id)
      redis.pcall('PEXPIRE', subject.name, whole(life))
      redis.pcall('ZADD', users, whole(at + life), subject.id)
      -- The last of them to be forgotten takes the list along, also where it had no end until now.
      local left_s, last = redis.pcall('TTL', users), nil
      if left_s == -1 then last = redis.pcall('ZREVRANGE', users, 0, 0, 'WITHSCORES') end
      local ends = last and tonumber(last[2]) and math.max(life, last[2] - at) or life
      if type(left_s) == 'number' and left_s * 1000 < ends then redis.pcall('PEXPIRE', users, whole(ends)) end
    end
  end
end
