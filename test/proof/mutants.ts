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
    find: 'old_digest == digest and number(old_until) > now',
    replace: 'old_digest == digest',
  },
  {
    name: 'every model is allowed',
    find: "if models and not is_allowed() then return { 'model' } end",
    replace: '',
  },
  {
    name: 'more requests at once than the key may have',
    find: 'number(in_flight) >= number(in_flight_max)',
    replace: 'number(in_flight) > number(in_flight_max)',
  },
  {
    name: 'a settled request is let in again',
    find: "if redis.call('HEXISTS', KEYS[5], request_id) == 1 then return { 'finished' } end",
    replace: '',
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
    find: 'number(cap) - number(spent) - number(key_held) or math.huge',
    replace: 'number(cap) - number(spent) or math.huge',
  },
  {
    name: 'the balance does not see what is held',
    find: 'local balance_room = number(balance) - number(account_held)',
    replace: 'local balance_room = number(balance)',
  },
  {
    name: 'a hold shrinks below what it may',
    find: 'if balance_room < least then',
    replace: 'if balance_room <= 0 then',
  },
  {
    name: 'a hold is made twice for one request',
    find: 'if existing then\n  local hold = decode_hold(existing)\n  local limit',
    replace: 'if false then\n  local hold = decode_hold(existing)\n  local limit',
  },
  {
    name: 'requests in flight are never counted down',
    find: "redis.call('HINCRBY', key_key, 'in_flight', sign)",
    replace: "if sign > 0 then redis.call('HINCRBY', key_key, 'in_flight', sign) end",
  },
  {
    name: 'a renewal that does not extend the lease',
    find: "redis.call('ZADD', KEYS[4], whole(now_ms() + number(ARGV[8])), request_id)",
    replace: "redis.call('ZADD', KEYS[4], 'NX', whole(now_ms() + number(ARGV[8])), request_id)",
  },
  {
    name: 'a renewal that notes no cost',
    find: 'hold.seen = number(ARGV[7])',
    replace: 'hold.seen = existing and hold.seen or 0',
  },
  {
    name: 'a hold that comes back takes what others hold',
    find: 'hold.held = math.max(0, math.min(hold.held, room))',
    replace: '',
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
    find: 'count_hold(KEYS[1], KEYS[2], hold, -1)',
    replace: '',
  },
  {
    name: 'a repeated settlement charges again',
    find: "if not expired_charge then return { 'repeated', number(done) } end",
    replace: '',
  },
  {
    name: 'a late settlement charges all of it',
    find: "finish('late', nothing_held, number(expired_charge))",
    replace: "finish('late', nothing_held, 0)",
  },
  {
    name: 'an overrun is charged whatever is left',
    find: 'charged = math.max(held, math.min(wanted, find_room(account_key, key_key, month)))',
    replace: 'charged = wanted',
  },
  {
    name: 'an overrun may take what is held',
    find: 'local room = number(balance) - number(account_held)\n  if cap then room = math.min(room, number(cap) - number(spent) - number(key_held)) end',
    replace:
      'local room = number(balance)\n  if cap then room = math.min(room, number(cap) - number(spent)) end',
  },
  {
    name: 'the month of settling pays',
    find: 'charge(KEYS[1], KEYS[2], hold.month, hold.held, wanted - already)',
    replace: 'charge(KEYS[1], KEYS[2], month_of(now_ms()), hold.held, wanted - already)',
  },
  {
    name: 'sweeping charges all that was held',
    find: 'local wanted = math.min(hold.seen, hold.held)',
    replace: 'local wanted = hold.held',
  },
  {
    name: 'sweeping leaves no mark',
    find: "mark_done(done_name(prefix, request_id), request_id, 'x' .. whole(charged))",
    replace: '',
  },
  {
    name: 'sweeping keeps the lease',
    find: "redis.call('ZREM', KEYS[2], request_id)\n  redis.call('HDEL', KEYS[1], request_id)",
    replace: "redis.call('HDEL', KEYS[1], request_id)",
  },
  {
    name: 'a settlement of any age is charged',
    find: 'if now_ms() - number(ARGV[7]) > SETTLE_AGE_MAX_MS then',
    replace: 'if false then',
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
    find: 'charged = -micros, short = 0',
    replace: 'charged = micros, short = 0',
  },
];

const NUMBER_MUTANTS: readonly Mutant[] = [
  {
    name: 'amounts lose their last digits',
    find: "return string.format('%.0f', number + 0)",
    replace: 'return tostring(number + 0)',
  },
  {
    name: 'nothing has a sign',
    find: "return string.format('%.0f', number + 0)",
    replace: "return string.format('%.0f', number)",
  },
  {
    name: 'February belongs to the year before',
    find: '(month <= 2 and 1 or 0)',
    replace: '(month < 2 and 1 or 0)',
  },
  {
    name: 'leap days come late',
    find: 'math.floor(day_of_era / 1460)',
    replace: 'math.floor(day_of_era / 1461)',
  },
];

const TELLING_MUTANTS: readonly Mutant[] = [
  {
    name: 'a key is told of requests that count no more',
    find: 'local count = find_expired(log, now, window)\n  return count',
    replace: "local count = redis.call('LLEN', log)\n  return count",
  },
  {
    name: 'a key is told of a log of the future',
    find: 'if not newest or newest - now > window then return 0, 0 end',
    replace: 'if not newest then return 0, 0 end',
  },
  {
    name: 'a key is told the limit of its account as its own',
    find: 'peek_window(KEYS[2], key_limit, now, window)',
    replace: 'peek_window(log_name(ARGV[1], ARGV[2]), key_limit, now, window)',
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
