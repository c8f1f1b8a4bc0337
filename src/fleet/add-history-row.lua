#!lua flags=allow-oom
--[[
  Row: adds a row to the history of the fleet, and forgets members. The holder of the lease calls it.

  KEYS  lease, history, members, details
  ARGV  run, slot, row, rows_max, slots_back_max, forgotten
  Reply is_holder  1 if this run holds the lease; otherwise nothing was written

  Row is '' if there is none to add. A row is `slot|row`; one of a slot that is not after the last is
  not added, so that a row that two holders add up is there once. When the slot is far before the
  last one, the clock of Redis is another one, and the history starts again.

  forgotten is a packed list of name, at_ms, …: a member that was heard since then stays.
]]
local lease, history, members, details = unpack(KEYS)
local run, slot, row, rows_max, slots_back_max, forgotten = unpack(ARGV)
if redis.call('GET', lease) ~= run then return 0 end
if row ~= '' then
  local last = redis.call('LINDEX', history, -1)
  local last_slot = last and tonumber(string.match(last, '^(%d+)|'))
  if last and (not last_slot or last_slot - slot > tonumber(slots_back_max)) then
    redis.call('DEL', history)
    last_slot = nil
  end
  if not last_slot or last_slot < tonumber(slot) then
    redis.call('RPUSH', history, slot .. '|' .. row)
    redis.call('LTRIM', history, -rows_max, -1)
  end
end
local names = cmsgpack.unpack(forgotten)
for i = 1, #names, 2 do
  local known = redis.call('HGET', members, names[i])
  if known and string.match(known, '^%d+') == names[i + 1] then
    redis.call('HDEL', members, names[i])
    redis.call('HDEL', details, names[i])
  end
end
return 1
