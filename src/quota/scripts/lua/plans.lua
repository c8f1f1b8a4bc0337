-- `plans` are the window of requests in ms, and of each plan its requests in it and its further
-- limits, as in '60000|starter=60;|pro=300;t,60000,400000,b;|'.

-- Returns the window, and the requests and further limits of a plan. A plan that is not there gets
-- those of the first one, which has the lowest number.
local function find_plan(plans, plan)
  local _, name_end = string.find(plans, '|' .. (plan or '') .. '=', 1, true)
  if not name_end then _, name_end = string.find(plans, '=', 1, true) end
  local limit, list = string.match(plans, '^(%d+);([^|]*)', name_end + 1)
  return string.match(plans, '^%d+') + 0, limit + 0, list
end
