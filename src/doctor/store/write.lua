#!lua
--[[
  Write: does Redis take a write, and give it back?

  KEYS  trial
  ARGV  text
  Reply text_read

  Runs out by itself, should the server die in between.
]]
redis.call('SET', KEYS[1], ARGV[1], 'PX', 10000)
local text = redis.call('GET', KEYS[1])
redis.call('DEL', KEYS[1])
return text
