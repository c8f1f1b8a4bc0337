#!lua flags=allow-oom
--[[
  Count: one node counts the entries that Redis has, the others read its result.

  KEYS  counter, waiting
  ARGV  node_id, every_ms, kept_ms, counted
  Reply {is_due, waiting}
        is_due   1 when this node must count now, and send the result with its next call
        waiting  the last result, '' before the first and when it is older than kept_ms

  counted is the result, or empty to ask. Whoever counts has every_ms for it; then another node may.

  It works without free memory: when there is none, the count says why.
]]
local counter, waiting = unpack(KEYS)
local node_id, every_ms, kept_ms, counted = unpack(ARGV)
if counted ~= '' then
  redis.call('SET', waiting, counted, 'PX', kept_ms)
  return { 0, counted }
end
-- A clock that was set back would keep the turn for as long as that.
if redis.call('TTL', counter) > every_ms / 1000 + 1 then redis.call('DEL', counter) end
local is_due = redis.call('SET', counter, node_id, 'NX', 'PX', every_ms) and 1 or 0
return { is_due, redis.call('GET', waiting) or '' }
