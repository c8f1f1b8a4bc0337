-- Money is whole micro-credits below 2^53. A reply takes such a number as it is, with all its digits. So does a
-- command, but Redis takes four times as long to write it as `whole` does; `tostring` and `..` would round it to 14.

local function whole(number)
  return string.format('%d', number)
end

-- A field that is absent counts as 0.
local function number(text)
  return (text or 0) + 0
end
