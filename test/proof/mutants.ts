import type { Mutant } from './mutant.ts';
import { RATE_MUTANTS } from './rate-mutants.ts';

const ACCESS_MUTANTS: readonly Mutant[] = [
  {
    name: 'a revoked key is let in',
    find: "if status ~= 'active' then return { 'revoked' } end\nif expires and number(expires) <= now then return { 'expired' } end\n\nlocal account_key",
    replace:
      "if expires and number(expires) <= now then return { 'expired' } end\n\nlocal account_key",
  },
  {
    name: 'an expired key is let in',
    find: "if expires and number(expires) <= now then return { 'expired' } end\n\nlocal account_key",
    replace: 'local account_key',
  },
  {
    name: 'a suspended account is let in',
    find: "if account_status ~= 'active' then return { 'suspended' } end",
    replace: '',
  },
  {
    name: 'an old digest is valid for ever',
    find: 'if old_digest ~= digest or number(old_until) <= now then',
    replace: 'if old_digest ~= digest then',
  },
  {
    name: 'every model is allowed',
    find: 'if models and not is_allowed(models, model_names) then',
    replace: 'if false then',
  },
  {
    name: 'more requests at once than the key may have',
    find: 'in_flight >= number(in_flight_max)',
    replace: 'in_flight > number(in_flight_max)',
  },
  {
    name: 'a settled request is let in again',
    find: "if redis.call('HEXISTS', KEYS[4], request_id) == 1 then\n        replies",
    replace: "if refusal and redis.call('HEXISTS', KEYS[4], request_id) == 1 then\n        replies",
  },
  {
    name: 'a settled request is refused for another reason',
    find: "if redis.call('HEXISTS', KEYS[4], request_id) == 1 then\n        replies",
    replace:
      "if not refusal and redis.call('HEXISTS', KEYS[4], request_id) == 1 then\n        replies",
  },
  {
    name: 'a write is carried out twice',
    find: "if string.find(',' .. former, ',' .. write_id .. ',', 1, true) then return { 'written', version } end",
    replace: '',
  },
  {
    name: 'any version is the expected one',
    find: "elseif expected ~= '' and number(expected) ~= version then",
    replace: 'elseif false then',
  },
];

const HOLD_MUTANTS: readonly Mutant[] = [
  {
    name: 'the cap does not see what is held',
    find: 'cap - number(spent) - key_held or math.huge',
    replace: 'cap - number(spent) or math.huge',
  },
  {
    name: 'the balance does not see what is held',
    find: 'local balance_room = balance - account_held',
    replace: 'local balance_room = balance',
  },
  {
    name: 'a hold shrinks below what it may',
    find: 'elseif balance_room < least then',
    replace: 'elseif balance_room <= 0 then',
  },
  {
    name: 'a hold is made twice for one request',
    find: "redis.call('HSETNX', KEYS[2], request_id, hold) == 0",
    replace: "redis.call('HSET', KEYS[2], request_id, hold) == 2",
  },
  {
    name: 'of a run only the last hold counts',
    find: 'is_changed = true',
    replace:
      "is_changed, account_held = true, number(redis.call('HGET', account_key, 'held')) + held",
  },
  {
    name: 'requests in flight are never counted down',
    find: 'key_held - held, in_flight - ended',
    replace: 'key_held - held, in_flight',
  },
  {
    name: 'a lost hold counts down the requests in flight',
    find: 'key_held - held, in_flight - ended',
    replace: 'key_held - held, in_flight - 1',
  },
  {
    name: 'a hold of nothing stays with its key',
    find: "redis.call('HDEL', key_key, held_field)",
    replace: "redis.call('HSET', key_key, held_field, '0')",
  },
  {
    name: 'a renewal that does not extend the lease',
    find: "redis.call('ZADD', KEYS[4], whole(now_ms() + ARGV[6]), request_id)",
    replace: "redis.call('ZADD', KEYS[4], 'NX', whole(now_ms() + ARGV[6]), request_id)",
  },
  {
    name: 'a renewal that notes no cost',
    find: "payer .. '|' .. held .. '|' .. ARGV[5]",
    replace:
      "payer .. '|' .. held .. '|' .. (existing and select(4, decode_hold(existing)) or '0')",
  },
  {
    name: 'a hold that comes back takes what others hold',
    find: 'local held = math.max(0, math.min(ARGV[4], room))',
    replace: 'local held = number(ARGV[4])',
  },
  {
    name: 'a renewal brings back what was swept',
    find: "if not existing and redis.call('HEXISTS', KEYS[5], request_id) == 1 then\n  keep_marks",
    replace: 'if false then\n  keep_marks',
  },
  {
    name: 'what was swept is forgotten while its request runs',
    find: '  keep_marks(KEYS[5])\n',
    replace: '',
  },
  {
    name: 'only the last write of a record is known again',
    find: "string.sub(write_id .. ',' .. former, 1, WRITES_CHARS_MAX)",
    replace: "write_id .. ','",
  },
];

const MONEY_MUTANTS: readonly Mutant[] = [
  {
    name: 'settling forgets to release the hold',
    find: 'account_held, key_held, in_flight = account_held - held, key_held - held, in_flight',
    replace: 'account_held, key_held, in_flight = account_held, key_held, in_flight',
  },
  {
    name: 'of a run only the last charge counts',
    find: 'if month ~= of_month then\n      if month then',
    replace: 'if true then\n      if false then',
  },
  {
    name: 'a run in two months charges the later one alone',
    find: '      if month then\n        write_amounts(account_key',
    replace: '      if false then\n        write_amounts(account_key',
  },
  {
    name: 'a repeated settlement charges again',
    find: 'if not expired_charge then',
    replace: 'if false then',
  },
  {
    name: 'a late settlement charges all of it',
    find: "kind, already = 'late', number(expired_charge)",
    replace: "kind, already = 'late', 0",
  },
  {
    name: 'an overrun is charged whatever is left',
    find: 'return math.max(held, math.min(wanted, room))',
    replace: 'return wanted',
  },
  {
    name: 'an overrun may take what is held',
    find: 'local room = balance - account_held\n  if cap then room = math.min(room, number(cap) - spent - key_held) end',
    replace: 'local room = balance\n  if cap then room = math.min(room, number(cap) - spent) end',
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
    find: "redis.call('HSET', done_key, request_id, 'x' .. whole(charged))",
    replace: '',
  },
  {
    name: 'sweeping keeps the leases',
    find: "if taken > 0 then redis.call('LTRIM', KEYS[2], taken, -1) end",
    replace: '',
  },
  {
    name: 'sweeping keeps the renewals',
    find: "redis.call('ZREM', KEYS[3], request_id)",
    replace: '',
  },
  {
    name: 'a settled request stays among the renewals',
    find: "if due == '' then redis.call('ZREM', KEYS[4], request_id) end",
    replace: '',
  },
  {
    name: 'a request that is listed twice is swept twice',
    find: "if redis.call('HDEL', KEYS[1], request_id) == 0 then return end",
    replace: "redis.call('HDEL', KEYS[1], request_id)",
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
    find: 'elseif now_ms() - number(ARGV[first + 2]) > SETTLE_AGE_MAX_MS then',
    replace: 'elseif false then',
  },
  {
    name: 'marks are forgotten too early',
    find: "redis.call('EXPIRE', done_key, DONE_KEEP_S)",
    replace: "redis.call('EXPIRE', done_key, 60)",
  },
  {
    name: 'a payment is entered each time',
    find: 'if entered then',
    replace: 'if false then',
  },
  {
    name: 'a refund takes what is held',
    find: "if micros < 0 and balance < number(held) and ARGV[5] ~= '1' then",
    replace: 'if false then',
  },
  {
    name: 'the ledger has another sign',
    find: 'whole(-micros)',
    replace: 'whole(micros)',
  },
];

const NUMBER_MUTANTS: readonly Mutant[] = [
  {
    name: 'amounts lose their last digits',
    find: "return string.format('%d', number)",
    replace: 'return tostring(number)',
  },
  {
    name: 'nothing has a sign',
    find: "return string.format('%d', number)",
    replace: "return string.format('%.0f', number)",
  },
  {
    name: 'February belongs to the year before',
    find: 'if month > 12 then',
    replace: 'if month > 13 then',
  },
  {
    name: 'leap days come late',
    find: 'from_century % 1461',
    replace: 'from_century % 1460',
  },
];

const TELLING_MUTANTS: readonly Mutant[] = [
  {
    name: 'a key is told of requests that count no more',
    find: '  read.times = string.sub(read.times, expired * TIME_BYTES + 1)\n',
    replace: '',
  },
  {
    name: 'a key is told the limit of its account as its own',
    find: 'read_window(prefix, key_id, key_window, key_limit, now, window)\nlocal by_account = read_window(prefix, account_id,',
    replace:
      'read_window(prefix, account_id, account_window, key_limit, now, window)\nlocal by_account = read_window(prefix, account_id,',
  },
];

export const MUTANTS: readonly Mutant[] = [
  ...RATE_MUTANTS,
  ...ACCESS_MUTANTS,
  ...HOLD_MUTANTS,
  ...MONEY_MUTANTS,
  ...NUMBER_MUTANTS,
  ...TELLING_MUTANTS,
];
