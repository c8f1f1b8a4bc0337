-- Money is whole micro-credits below 2^53. Lua's `tostring` and `..` round a number to 14 digits. A
-- reply and a command take a number with all its digits, but Redis takes four times as long as
-- `whole` to write it into a command.

local function whole(number)
  return string.format('%d', number)
end

-- An absent field counts as 0.
local function number(text)
  return (text or 0) + 0
end

-- An amount is whole, exact and not below 0. What a caller sends is checked for it before it
-- reaches a record.
local function is_amount(number)
  local AMOUNT_MAX = 9007199254740991
  return number ~= nil and number >= 0 and number <= AMOUNT_MAX and number % 1 == 0
end
