import type { Mutant } from './mutant.ts';

export const MONEY_MUTANTS: readonly Mutant[] = [
  {
    name: 'settling forgets to release the hold',
    find: '      account_held, key_held = account_held - held, key_held - held\n      if due',
    replace: '    if due',
  },
  {
    name: 'of a run only the last charge counts',
    find: 'if month ~= of_month then\n        if month then',
    replace: 'if true then\n        if false then',
  },
  {
    name: 'a run in two months charges the later one alone',
    find: '        if month then write_amounts(',
    replace: '      if false then write_amounts(',
  },
  {
    name: 'a repeated settlement charges again',
    find: "if not expired_charge then return { 'repeated', tonumber(mark) or 0 } end",
    replace: '',
  },
  {
    name: 'a late settlement charges all of it',
    find: "kind, already = 'late', number(expired_charge)",
    replace: "kind, already = 'late', 0",
  },
  {
    name: 'an overrun is charged whatever is left',
    find: 'return math.max(covered, math.min(wanted, room))',
    replace: 'return wanted',
  },
  {
    name: 'an overrun may take what is held',
    find: "local room, cap = balance - account_held, redis.call('HGET', key, 'cap')\n  if cap then room = math.min(room, (tonumber(cap) or 0) - spent - key_held) end",
    replace:
      "local room, cap = balance, redis.call('HGET', key, 'cap')\n  if cap then room = math.min(room, number(cap) - spent) end",
  },
  {
    name: 'the month of settling pays',
    find: "local held_field, spent_field = 'held:' .. month, 'spent:' .. month",
    replace:
      "local held_field, spent_field = 'held:' .. month, 'spent:' .. (now_ms() < 1796083200000 and month or '202612')",
  },
  {
    name: 'sweeping charges all that was held',
    find: 'math.min(seen, held)',
    replace: 'held + 0',
  },
  {
    name: 'sweeping leaves no mark',
    find: "redis.call('HSET', done, request_id, 'x' .. whole(charged))",
    replace: '',
  },
  {
    name: 'sweeping keeps the leases',
    find: "if taken > 0 then redis.call('LTRIM', leases, taken, -1) end",
    replace: '',
  },
  {
    name: 'a state of limits that nobody can read keeps requests from being charged',
    find: 'return from == #use + 1 and use or nil',
    replace: 'return use',
  },
  {
    name: 'sweeping keeps the renewals',
    find: "redis.call('ZREM', renewals, request_id)",
    replace: '',
  },
  {
    name: 'a settled request stays among the renewals',
    find: "if due == '' then redis.pcall('ZREM', renewals_name(prefix), request_id) end",
    replace: '',
  },
  {
    name: 'a request that is listed twice is swept twice',
    find: 'if not payer or ended[request_id] then return end',
    replace: 'if not payer then return end',
  },
  {
    name: 'a hold that nobody can read stops the sweep',
    find: 'if not payer or ended[request_id] then return end',
    replace: 'if ended[request_id] then return end',
  },
  {
    name: 'a renewed hold ends with its first lease',
    find: "if due ~= '' then\n      if number(due) > now then break end",
    replace: 'if text then',
  },
  {
    name: 'a lease that is not due ends',
    find: 'if number(due) > now then break end',
    replace: '',
  },
  {
    name: 'a settlement of any age is charged',
    find: "if now - last_known > AGE_MAX_MS then return { 'too_old' } end",
    replace: '',
  },
  {
    name: 'a lost hold of any age is made again',
    find: 'if is_marked or now_ms() - last_known > AGE_MAX_MS then',
    replace: 'if is_marked then',
  },
  {
    name: 'marks are forgotten too early',
    find: "redis.call('EXPIRE', done, KEEP_S)",
    replace: "redis.call('EXPIRE', done, 60)",
  },
  {
    name: 'a settlement of no number is charged',
    find: 'if not is_amount(wanted) then',
    replace: 'if false then',
  },
  {
    name: 'a settlement of no time is charged',
    find: "if not is_amount(last_known) then return { 'invalid' } end",
    replace: 'last_known = last_known or now_ms()',
  },
  {
    name: 'a payment of no number is entered',
    find: "if not micros or not is_amount(math.abs(micros)) then return { 'invalid' } end",
    replace: '',
  },
  {
    name: 'a payment is entered each time',
    find: 'if entered then',
    replace: 'if false then',
  },
  {
    name: 'an adjustment takes what is held',
    find: "if micros < 0 and balance < number(held) and is_forced ~= '1' then",
    replace: 'if false then',
  },
  {
    name: 'the ledger has another sign',
    find: 'whole(-micros)',
    replace: 'whole(micros)',
  },
  {
    name: 'a figure of the books overwrites what has changed since',
    find: 'if value ~= tonumber(found) then return 0 end',
    replace: '',
  },
  {
    name: 'a figure of the books makes a record of what is gone',
    find: 'if not version then return 0 end',
    replace: '',
  },
];
