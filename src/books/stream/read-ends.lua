#!lua flags=no-writes
--[[
  Ends: reports how far several ledgers go. All of them must be on one server, which a Cluster does
  not promise.

  KEYS  first
  ARGV  others
  Reply the id of the last entry of each ledger, first before others; '' where there is no entry

  others is a packed list of names; its length bounds a call.
]]
local first = KEYS[1]
local others = ARGV[1]
local last_ids = {}
for _, ledger in ipairs({ first, unpack(cmsgpack.unpack(others)) }) do
  local last = redis.call('XREVRANGE', ledger, '+', '-', 'COUNT', 1)[1]
  table.insert(last_ids, last and last[1] or '')
end
return last_ids
