-- Names of the records of groups and end users. They are not in `names.lua`, because few requests
-- need them.

local function group_name(prefix, group_id)
  return prefix .. 'group:' .. group_id
end

-- `user_id` is the id of the key or group that has the template, and the digest of the end user.
local function user_name(prefix, user_id)
  return prefix .. 'user:' .. user_id
end
