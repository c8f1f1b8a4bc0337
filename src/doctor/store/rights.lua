#!lua
--[[
  Rights: reports which of the needed commands this user may not run. It runs none of them.

  KEYS  trial
  ARGV  channel
  Reply list of the refused commands
]]
local trial = KEYS[1]
local channel = ARGV[1]
local commands = {
  -- Of the scripts.
  { 'DEL', trial },
  { 'EXISTS', trial },
  { 'EXPIRE', trial, 1 },
  { 'GET', trial },
  { 'HDEL', trial, 'f' },
  { 'HEXISTS', trial, 'f' },
  { 'HGET', trial, 'f' },
  { 'HGETALL', trial },
  { 'HINCRBY', trial, 'f', 1 },
  { 'HKEYS', trial },
  { 'HMGET', trial, 'f' },
  { 'HSET', trial, 'f', 'v' },
  { 'HSETNX', trial, 'f', 'v' },
  { 'HVALS', trial },
  { 'INCRBY', trial, 1 },
  { 'LINDEX', trial, 0 },
  { 'LPOP', trial },
  { 'LRANGE', trial, 0, 1 },
  { 'LREM', trial, 1, 'v' },
  { 'LTRIM', trial, 0, 1 },
  { 'PEXPIRE', trial, 1 },
  { 'PEXPIREAT', trial, 1 },
  { 'PUBLISH', channel, 'm' },
  { 'RPUSH', trial, 'v' },
  { 'SADD', trial, 'm' },
  { 'SET', trial, 'v' },
  { 'SMEMBERS', trial },
  { 'SREM', trial, 'm' },
  { 'TIME' },
  { 'TTL', trial },
  { 'XADD', trial, '*', 'f', 'v' },
  { 'XINFO', 'STREAM', trial },
  { 'XREVRANGE', trial, '+', '-' },
  { 'ZADD', trial, 1, 'm' },
  { 'ZCARD', trial },
  { 'ZRANGEBYSCORE', trial, 0, 1 },
  { 'ZRANK', trial, 'm' },
  { 'ZREM', trial, 'm' },
  { 'ZREMRANGEBYSCORE', trial, 0, 1 },
  { 'ZREVRANGE', trial, 0, 0 },
  { 'ZSCORE', trial, 'm' },
  -- Of the connections.
  { 'EVAL', 'return 1', 1, trial },
  { 'EVALSHA', 'sha', 1, trial },
  { 'INFO' },
  { 'PING' },
  { 'ROLE' },
  { 'SCARD', trial },
  { 'SUBSCRIBE', channel },
  { 'UNSUBSCRIBE', channel },
  { 'WAIT', 1, 1 },
  { 'XLEN', trial },
  { 'XRANGE', trial, '-', '+' },
  { 'XTRIM', trial, 'MAXLEN', 1 },
}
local refused = {}
for _, command in ipairs(commands) do
  if not redis.acl_check_cmd(unpack(command)) then
    refused[#refused + 1] = command[1]
  end
end
return refused
