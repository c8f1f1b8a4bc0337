#!lua
--[[
  Write: does Redis take a write, and give it back?

  KEYS  trial
  ARGV  text
  Reply text_read

  The key expires by itself if the server dies in between.
]]
local trial = KEYS[1]
local text = ARGV[1]
redis.call('SET', trial, text, 'PX', 10000)
local text_read = redis.call('GET', trial)
redis.call('DEL', trial)
return text_read
