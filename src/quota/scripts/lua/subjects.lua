-- Records of groups and end users, and the lists in records. The names are not in `names.lua`,
-- because few requests need them. The field `limits` of a key or a group is
-- `group|required|list|template`: the group of the key, 1 if a request must name its end user, the
-- list, and the list of each end user. Of an account it is a list alone.

local function group_name(prefix, group_id)
  return prefix .. 'group:' .. group_id
end

-- `user_id` is the id of the key or group that has the template, and the digest of the end user.
local function user_name(prefix, user_id)
  return prefix .. 'user:' .. user_id
end

-- Returns group, whether an end user is required, list and template.
local function decode_limits(text)
  local group_id, required, list, template = string.match(text or '', '^([^|]*)|([^|]*)|([^|]*)|([^|]*)$')
  return group_id or '', required == '1', list or '', template or ''
end

-- A record of a wrong type must not keep a script from its other writes.
local function read_field(name, field)
  local text = redis.pcall('HGET', name, field)
  return type(text) == 'string' and text or nil
end
