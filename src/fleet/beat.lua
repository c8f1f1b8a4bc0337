#!lua flags=allow-oom
--[[
  Beat: writes what a node reports, and returns what the node has to know of the fleet.

  KEYS  members, details, lease, facts, listened
  ARGV  node_id, run, beat, detail, has_ended, life_ms, told_facts, traffic, channel, is_listening
  Reply {now_ms, name, is_holder, facts, is_listened}
        now_ms       the clock of Redis
        name         of this member: node_id, or node_id~run while another run has that name
        is_holder    1 if this run holds the lease
        facts        what the holder says of all members; '' if it has not said anything yet
        is_listened  1 while somebody listens to what all nodes do

  A member is `at_ms|run|has_ended|beat`. Its name belongs to the run that wrote it, until that run
  has ended or was silent for life_ms. So a copied data folder makes two members and not one that
  flickers. A time in the future counts as silence: after a failover the clock may be another one.

  It works without free memory: members are few and small, and people need them just then.
]]
local members, details, lease, facts, listened = unpack(KEYS)
local node_id, run, beat, detail, has_ended, life_ms, told_facts, traffic, channel, is_listening =
  unpack(ARGV)
life_ms = tonumber(life_ms)
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)

local name, twin = node_id, node_id .. '~' .. run
local known = redis.call('HGET', members, node_id)
if known then
  local at_ms, known_run, known_end = string.match(known, '^(%d+)|([^|]*)|(%d)|')
  if known_run and known_run ~= run then
    local is_heard = known_end == '0' and math.abs(now_ms - at_ms) < life_ms
    if is_heard then
      name = twin
    else
      redis.call('HDEL', members, twin)
      redis.call('HDEL', details, twin)
    end
  end
end
local head = string.format('%.0f', now_ms) .. '|' .. run .. '|' .. has_ended .. '|'
redis.call('HSET', members, name, head .. beat)
redis.call('HSET', details, name, detail)

local holder, is_holder = redis.call('GET', lease), 0
if has_ended == '1' then
  if holder == run then redis.call('DEL', lease) end
elseif not holder or holder == run then
  redis.call('SET', lease, run, 'PX', life_ms)
  is_holder = 1
else
  -- A clock that was set back would keep the lease of a dead run for as long as that.
  redis.call('PEXPIRE', lease, life_ms, 'LT')
end
if is_holder == 1 and told_facts ~= '' then
  redis.call('SET', facts, told_facts, 'PX', 2 * life_ms)
end

if is_listening == '1' then redis.call('SET', listened, 1, 'PX', life_ms) end
local is_listened = redis.call('EXISTS', listened)
if is_listened == 1 then redis.call('PUBLISH', channel, traffic) end
return { now_ms, name, is_holder, redis.call('GET', facts) or '', is_listened }
