-- A hold as it stands in Redis: account|key|month|model|held|seen, and until its first renewal |due. Who pays, from
-- account to model, is one text, here and in the ledger. Two indexes lead to the holds whose lease has run out:
--
--   leases    LIST  all requests as they were admitted. First leases have one length, so the first one to end is at the
--                   head, and nothing has to be taken out when a request ends. An entry counts while its hold has a due
--   renewals  ZSET  the requests that were renewed, by the end of their lease
--
-- A hold and its entry are written by one script, which is one transaction to a replica and in the append-only file:
-- both outlive a failover or none. Where the clock of a new master is behind, holds of before end as much later, and
-- those behind them in the list with them; a first lease that is longer than those after it delays them as well, by as
-- much as it is longer.

-- Answers payer, month, held, seen and due, all as texts; after a renewal `due` is empty.
local function decode_hold(text)
  return string.match(text, '^([^|]*|[^|]*|([^|]*)|[^|]*)|(%d+)|(%d+)|?(%d*)$')
end
