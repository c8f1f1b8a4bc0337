#!lua flags=no-writes
--[[
  Read: the version of the catalogue that holds, and those that wait for their time.

  KEYS  head, notes, documents
  ARGV  -
  Reply {version, note, document, …}  the last version first; empty if there is none
]]
local head, notes, documents = unpack(KEYS)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local found = {}
local version = tonumber(redis.call('HGET', head, 'version') or '0')
while version > 0 do
  local note = redis.call('HGET', notes, version)
  if note then
    found[#found + 1] = version
    found[#found + 1] = note
    found[#found + 1] = redis.call('HGET', documents, version)
    if tonumber(string.match(note, '^(%d+)|')) <= now then break end
  end
  version = version - 1
end
return found
