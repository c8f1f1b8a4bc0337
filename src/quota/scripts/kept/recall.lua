#!lua flags=no-writes
--[[
  Recall: returns to a good key what is kept of earlier answers of its account.

  KEYS  key, whole
  ARGV  prefix, digest, previous_id
  Each  response_id
  Uses  numbers, clock, names, digest, kept
  Reply {'known', steps, …}  for the previous answer and all before it, the last one first: the output, what was asked; then
                for each response_id the output, empty if it is not kept. steps is -1 if one of the former is not
                kept with what was asked, or if there are more than can be read.
        {'unknown'} {'revoked'} {'expired'} {'suspended'}
]]
local key = KEYS[1]
local prefix, digest, previous_id = unpack(ARGV, 1, 3)
-- Redis does nothing else meanwhile: 4 ms.
local STEPS_MAX = 1000
local now = now_ms()

local status, account_id, key_digest, expires =
  unpack(redis.call('HMGET', key, 'status', 'account', 'digest', 'expires'))
if not status or not is_digest_of(key, key_digest, digest, now) then return { 'unknown' } end
if status ~= 'active' then return { 'revoked' } end
if expires and number(expires) <= now then return { 'expired' } end
if redis.call('HGET', account_name(prefix, account_id), 'status') ~= 'active' then return { 'suspended' } end

local kept = kept_name(prefix, account_id)
local reply, steps, id = { 'known', 0 }, 0, previous_id
while id ~= '' and steps >= 0 do
  local head, output, input = unpack(redis.call('HMGET', kept, 'p' .. id, 'o' .. id, 'i' .. id))
  local over_ms, rest, _, before = read_kept_head(head)
  if over_ms and over_ms > now and rest > 0 and steps < STEPS_MAX then
    reply[#reply + 1], reply[#reply + 2] = output, input
    steps, id = steps + 1, before
  else
    reply, steps = { 'known' }, -1
  end
end
reply[2] = steps
for first = 4, #ARGV do
  local response_id = ARGV[first]
  local head, output = unpack(redis.call('HMGET', kept, 'p' .. response_id, 'o' .. response_id))
  local over_ms = read_kept_head(head)
  reply[#reply + 1] = over_ms and over_ms > now and output or ''
end
return reply
