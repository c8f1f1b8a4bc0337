-- Money is whole micro-credits below 2^53. A reply takes such a number as it is, with all its digits. So does a
-- command, but Redis takes four times as long to write it as `whole` does; `tostring` and `..` would round it to 14.

local AMOUNT_MAX = 9007199254740991

local function whole(number)
  return string.format('%d', number)
end

-- A field that is absent counts as 0.
local function number(text)
  return (text or 0) + 0
end

-- What a caller sends has to be one: whole, not below 0, and exact. Nothing else may come near a record.
local function are_amounts(first, second, third)
  return first >= 0 and second >= 0 and third >= 0
    and first <= AMOUNT_MAX and second <= AMOUNT_MAX and third <= AMOUNT_MAX
    and first % 1 + second % 1 + third % 1 == 0
end

local function is_amount(number)
  return number ~= nil and are_amounts(number, 0, 0)
end
