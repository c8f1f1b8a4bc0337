import type { Mutant } from './mutant.ts';

export const EVENT_MUTANTS: readonly Mutant[] = [
  {
    name: 'what is crossed is told again and again',
    find: "redis.pcall('SET', mark, whole(amount), 'NX', 'PX', whole(life))",
    replace: "redis.pcall('SET', mark, whole(amount), 'PX', whole(life))",
  },
  {
    name: 'a limit warns only beyond its share',
    find: 'before < amount * warn_at and after >= amount * warn_at',
    replace: 'before < amount * warn_at and after > amount * warn_at',
  },
  {
    name: 'a limit is reached only when it is passed',
    find: 'if before < amount and after >= amount then\n    kind',
    replace: 'if before < amount and after > amount then\n    kind',
  },
  {
    name: 'a limit that only warns is reached',
    find: "kind = unit >= 'a' and 'r' or 'w'",
    replace: "kind = 'r'",
  },
  {
    name: 'a limit of the calendar tells in its first period alone',
    find: "if is_period_marked then mark = mark .. '|' .. period end",
    replace: '',
  },
  {
    name: 'all windows that roll tell the same event',
    find: 'whole(math.floor(now / quiet)), quiet, now)',
    replace: "'0', quiet, now)",
  },
  {
    name: 'an event that could not be written is never told',
    find: "if type(added) == 'table' then redis.pcall('DEL', mark) end",
    replace: '',
  },
  {
    name: 'an account tells without end',
    find: 'return count <= EVENTS_PER_HOUR_MAX',
    replace: 'return true',
  },
  {
    name: 'a limit is silent after the hour in which too much was told',
    find: "redis.pcall('DEL', mark)\n      return",
    replace: 'return',
  },
  {
    name: 'a settlement is compared with what has expired',
    find: 'head, before = slice, counted',
    replace: 'head = slice',
  },
  {
    name: 'an account that tells too much is silent about its balance',
    find: "window ~= '' and not may_tell(prefix, owner, now)",
    replace: 'not may_tell(prefix, owner, now)',
  },
  {
    name: 'an account that tells too much writes for each refusal',
    find: "if window ~= '' and is_silent(prefix, owner) then return end",
    replace: '',
  },
  {
    name: 'nobody hears that events are left out',
    find: 'if count == EVENTS_PER_HOUR_MAX + 1 then',
    replace: 'if false then',
  },
  {
    name: 'an account is silent for ever',
    find: "redis.pcall('PEXPIRE', name, whole(HOUR_MS))",
    replace: '',
  },
  {
    name: 'events that are left out are told once in an hour of the clock',
    find: "redis.pcall('HSET', name, 'start', whole(now))",
    replace: '',
  },
  {
    name: 'a settlement crosses no limit',
    find: 'if counted > before and counted >= amount * warn_at then',
    replace: 'if false then',
  },
  {
    name: 'rates tell nothing',
    find: 'local is_rated = crosses(account_counted, by_account.count, account_limit)\n        or crosses(key_counted, by_key.count, key_limit)',
    replace: 'local is_rated = false',
  },
  {
    name: 'an admission crosses no cap',
    find: 'local is_capped = cap and crosses(cap_counted, counted_by_cap, cap)',
    replace: 'local is_capped = false',
  },
  {
    name: 'a charge beyond what was held crosses no cap',
    find: '        if charged > held then\n          listing.telling().tell_charged',
    replace: '      if false then\n        listing.telling().tell_charged',
  },
  {
    name: 'a hold that comes back crosses no cap',
    find: '  if held > 0 then\n    listing = listing or lists()',
    replace: '  if false then\n    listing = listing or lists()',
  },
  {
    name: 'what refuses a request is not reached',
    find: "if kind == 'limit' or redis.call('EXISTS', mark) == 0 then",
    replace: 'if false then',
  },
  {
    name: 'a charge makes no balance low',
    find: 'local is_fallen = balance < low and before >= low or balance <= 0 and before > 0',
    replace: 'local is_fallen = balance <= 0 and before > 0',
  },
  {
    name: 'a sweep makes no balance low',
    find: 'if left < low and balance >= low or left <= 0 and balance > 0 then',
    replace: 'if false then',
  },
  {
    name: 'a balance that was filled up is low no more',
    find: "redis.pcall('DEL', string.format(mark, 'x') .. '0', string.format(mark, 'l'))",
    replace: '',
  },
  {
    name: 'a balance that was low by another line is low by no other',
    find: "if kind == 'l' and redis.pcall('GET', mark) ~= whole(amount) then redis.pcall('DEL', mark) end",
    replace: '',
  },
  {
    name: 'a balance that falls again tells the same event',
    find: "redis.pcall('HSET', account, 'armed', string.sub(redis.sha1hex(cause), 1, 16))",
    replace: '',
  },
  {
    name: 'events that were pushed out are counted by nobody',
    find: "if lost > 0 then redis.pcall('HINCRBY', taken, 'lost', whole(lost)) end",
    replace: '',
  },
  {
    name: 'events that the list has are counted as lost',
    find: 'if is_behind(entry[1], place) then lost = lost + 1 end',
    replace: 'lost = lost + 1',
  },
  {
    name: 'a bucket keeps events without end',
    find: "redis.pcall('XTRIM', events, 'MAXLEN', whole(EVENTS_MAX - 1))",
    replace: '',
  },
];
