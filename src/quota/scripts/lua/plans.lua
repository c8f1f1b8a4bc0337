-- `plans` are the window of requests in ms, the share of a limit from which it warns, and of each
-- plan its requests in the window and its further limits, as in
-- '60000,0.8|starter=60;|pro=300;t,60000,400000,b;|'. The share is no argument of its own, since a
-- ninth one makes Redis widen the table of all.

-- Returns the window, the requests and further limits of a plan, and the share. A plan that is not
-- there gets those of the first one, which has the lowest number.
local function find_plan(plans, plan)
  local _, name_end = string.find(plans, '|' .. (plan or '') .. '=', 1, true)
  if not name_end then _, name_end = string.find(plans, '=', 1, true) end
  local limit, list = string.match(plans, '^(%d+);([^|]*)', name_end + 1)
  local window, share = string.match(plans, '^(%d+),([%d.]+)')
  return window + 0, limit + 0, list, share
end
