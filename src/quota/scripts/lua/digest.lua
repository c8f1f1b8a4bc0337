-- A key is accepted with the digest in its record. After a rotation it is also accepted with the
-- former digest, until `old_until`. Few requests come with that one, so it is read only for them.
local function is_digest_of(key, key_digest, digest, now)
  if key_digest == digest then return true end
  local old_digest, old_until = unpack(redis.call('HMGET', key, 'old_digest', 'old_until'))
  return old_digest == digest and number(old_until) > now
end
