-- A hold in Redis is one text: account|key|month|model|held|seen. Before its first renewal, |due
-- follows, the end of its lease. If the request counts in lists of limits, it ends with
-- |extras, as `demands.lua` writes them; after a renewal with ||extras. Those of a request that is
-- in a group and counts in no list are `,group,`. The part from account to model says who pays; the
-- ledger has it too. Two indexes lead to the holds whose lease has run out:
--
--   leases    LIST  all requests in the order of their admission. Their first leases have the
--                   same length, so the first to end is at the head. An entry counts while its
--                   hold has a due, so a request that ends need not be taken out
--   renewals  ZSET  the renewed requests, by the end of their lease
--
-- One script writes a hold and its entry. To a replica and in the append-only file a script is one
-- transaction, so a failover keeps both or neither. If the clock of a new master is behind, older
-- holds end later by the difference, and so do those behind them in the list. A first lease that is
-- longer than the following ones delays them too, by what it is longer.

-- Returns payer, month, held, seen, due and extras, all as texts, or nothing if the text is no
-- hold. After a renewal `due` is empty.
local function decode_hold(text)
  return string.match(text, '^([^|]*|[^|]*|([^|]*)|[^|]*)|(%d+)|(%d+)|?(%d*)|?([^|]*)$')
end

local function counts_in_lists(extras)
  local COMMA = 44
  return extras ~= '' and string.byte(extras) ~= COMMA
end
