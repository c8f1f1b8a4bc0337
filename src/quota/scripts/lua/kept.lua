-- Kept answers of an account. For each answer there are up to four fields in one hash, named by
-- letter and id: p is `over_ms|rest_bytes|output_bytes|id before it`, o the output. Its rest may
-- be gone: i is what was asked, r the response without its output. A queue names the answers, the
-- oldest first, and another one those that have their rest.
-- The bucket knows the bytes of each account and of all, so that there is a bound however many
-- accounts there are, and when each account is over.

local function kept_name(prefix, account_id)
  return prefix .. 'kept:' .. account_id
end

local function kept_queue_name(prefix, account_id)
  return prefix .. 'kept-queue:' .. account_id
end

local function kept_rests_name(prefix, account_id)
  return prefix .. 'kept-rests:' .. account_id
end

local function kept_bytes_name(prefix)
  return prefix .. 'kept-bytes'
end

local function kept_total_name(prefix)
  return prefix .. 'kept-total'
end

local function kept_ends_name(prefix)
  return prefix .. 'kept-ends'
end

-- Returns when the answer is over, the bytes of its rest and of its output, and the id before it;
-- nothing without an answer.
local function read_kept_head(head)
  if not head then return end
  local over_ms, rest, output, previous_id = string.match(head, '^(%d+)|(%d+)|(%d+)|(.*)$')
  return tonumber(over_ms), tonumber(rest), tonumber(output), previous_id
end

local function write_kept_head(over_ms, rest_bytes, output_bytes, previous_id)
  return string.format('%.0f|%d|%d|%s', over_ms, rest_bytes, output_bytes, previous_id)
end

-- Takes an answer away and returns its bytes, 0 if it was not there. Its bytes are not yet counted.
local function drop_answer(prefix, account_id, id)
  local kept = kept_name(prefix, account_id)
  local over_ms, rest, output = read_kept_head(redis.call('HGET', kept, 'p' .. id))
  redis.call('LREM', kept_queue_name(prefix, account_id), 1, id)
  if not over_ms then return 0 end
  if rest > 0 then redis.call('LREM', kept_rests_name(prefix, account_id), 1, id) end
  redis.call('HDEL', kept, 'p' .. id, 'o' .. id, 'i' .. id, 'r' .. id)
  return rest + output
end

-- Counts bytes that are added, or taken away if they are below 0.
local function count_kept(prefix, account_id, bytes)
  redis.call('HINCRBY', kept_bytes_name(prefix), account_id, whole(bytes))
  return redis.call('INCRBY', kept_total_name(prefix), whole(bytes))
end
