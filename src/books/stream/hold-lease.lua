#!lua flags=allow-oom
--[[
  Hold: takes the lease of the books for a run of a node, or extends it if it holds it already. Notes
  how far the books are. The id of the node is not enough: a copied data folder gives it to two.

  KEYS  lease, id, progress
  ARGV  run, lease_ms, books_id, until_ms, waiting
  Reply {state, now_ms, books_id}
        state     held, other_node or other_books
        now_ms    the clock of Redis
        books_id  of the books that all entries go to

  until_ms and waiting are empty as long as the node does not know them. The first node that holds
  the lease says which books these are; a node with others never holds it.

  It works without free memory, because the work of its holder frees some.
]]
local lease, id, progress = unpack(KEYS)
local run, lease_ms, books_id, until_ms, waiting = unpack(ARGV)
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local holder = redis.call('GET', lease)
local known = redis.call('GET', id)
if known and known ~= books_id then
  if holder == run then redis.call('DEL', lease) end
  return { 'other_books', now_ms, known }
end
if holder and holder ~= run then
  -- A clock that was set back would keep the lease of a dead run for as long as that.
  redis.call('PEXPIRE', lease, lease_ms, 'LT')
  return { 'other_node', now_ms, known or books_id }
end
redis.call('SET', lease, run, 'PX', lease_ms)
if not known then redis.call('SET', id, books_id) end
if until_ms ~= '' then redis.call('HSET', progress, 'until', until_ms) end
if waiting ~= '' then redis.call('HSET', progress, 'waiting', waiting) end
return { 'held', now_ms, books_id }
