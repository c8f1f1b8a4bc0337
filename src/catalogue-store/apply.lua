--[[
  Apply: adds a version of the catalogue, if the one it was made from is still the last.

  KEYS  head, notes, documents
  ARGV  catalogue_id, base_version, version, from_ms, is_rollback, digest, write_id, note, document,
        versions_max, pending_max
  Reply {'applied', version, from_ms, applied_ms}
        {'changed', version}           another version is the last one
        {'pending', version, from_ms}  the last version is to hold later than this one
        {'full', version}              too many versions wait for their time

  A version holds from its time on, until a later one does. So the version that holds at a moment is
  the highest one whose time has come: a rollback, which holds at once, withdraws all that wait.
  `version` and its time are given to put back a version that Redis has lost; else they are found
  here. A call may be repeated with the same `write_id`. The first version names the catalogue.
]]
local head, notes, documents = unpack(KEYS)
local catalogue_id, base_version, version, from_ms, is_rollback, digest, write_id, note, document, versions_max, pending_max =
  unpack(ARGV)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- A note begins with its times and its write id.
local function read_note(n)
  local text = redis.call('HGET', notes, n)
  if not text then return 0, 0, '' end
  local from, applied, id = string.match(text, '^(%d+)|(%d+)|([^|]*)|')
  return tonumber(from), tonumber(applied), id
end

local last = tonumber(redis.call('HGET', head, 'version') or '0')
local last_from, last_applied, last_id = read_note(last)
if last_id == write_id then return { 'applied', last, last_from, last_applied } end
if last ~= tonumber(base_version) then return { 'changed', last } end

local from = tonumber(from_ms)
if version == '' then
  version = last + 1
  from = math.max(from, now)
  if is_rollback == '0' and last_from > from then return { 'pending', last, last_from } end
  local waiting, n = 0, last
  while n > 0 and read_note(n) > now do
    waiting, n = waiting + 1, n - 1
  end
  if from > now and waiting >= tonumber(pending_max) then return { 'full', last } end
else
  version = tonumber(version)
end

local times = string.format('%.0f|%.0f|', from, now)
redis.call('HSET', notes, version, times .. write_id .. '|' .. note)
redis.call('HSET', documents, version, document)
redis.call('HSETNX', head, 'id', catalogue_id)
redis.call('HSET', head, 'version', version, 'digest', digest)
for _, known in ipairs(redis.call('HKEYS', notes)) do
  if tonumber(known) <= version - tonumber(versions_max) then
    redis.call('HDEL', notes, known)
    redis.call('HDEL', documents, known)
  end
end
return { 'applied', version, from, now }
