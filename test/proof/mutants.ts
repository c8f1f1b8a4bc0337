import { EVENT_MUTANTS } from './event-mutants.ts';
import { LIST_MUTANTS } from './list-mutants.ts';
import { MONEY_MUTANTS } from './money-mutants.ts';
import type { Mutant } from './mutant.ts';
import { RATE_MUTANTS } from './rate-mutants.ts';

const ACCESS_MUTANTS: readonly Mutant[] = [
  {
    name: 'a revoked key is let in',
    find: "if status ~= 'active' then denial = { 'revoked' } break end",
    replace: '',
  },
  {
    name: 'an expired key is let in',
    find: "if expires and number(expires) <= now then denial = { 'expired' } break end",
    replace: '',
  },
  {
    name: 'a suspended account is let in',
    find: "if account_status ~= 'active' then denial = { 'suspended' } break end",
    replace: '',
  },
  {
    name: 'an old digest is valid for ever',
    find: 'return old_digest == digest and number(old_until) > now',
    replace: 'return old_digest == digest',
  },
  {
    name: 'every model is allowed',
    find: 'elseif models and not is_allowed(models, model_names) then',
    replace: 'elseif false then',
  },
  {
    name: 'more requests at once than the key may have',
    find: 'in_flight >= in_flight_max',
    replace: 'in_flight > in_flight_max',
  },
  {
    name: 'a settled request is let in again',
    find: "if redis.call('HEXISTS', done, request_id) == 1 then\n            reply =",
    replace:
      "if refusal and redis.call('HEXISTS', done, request_id) == 1 then\n            reply =",
  },
  {
    name: 'a settled request is refused for another reason',
    find: "if redis.call('HEXISTS', done, request_id) == 1 then\n            reply =",
    replace:
      "if not refusal and redis.call('HEXISTS', done, request_id) == 1 then\n            reply =",
  },
  {
    name: 'a write is carried out twice',
    find: "if string.find(',' .. writes, ',' .. write_id .. ',', 1, true) then return { 'written', version } end",
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
    find: 'cap - spent - key_held) or math.huge',
    replace: 'cap - spent) or math.huge',
  },
  {
    name: 'the balance does not see what is held',
    find: 'local balance_room = math.max(0, balance - account_held)',
    replace: 'local balance_room = math.max(0, balance)',
  },
  {
    name: 'a hold shrinks below what it may',
    find: 'elseif balance_room < least then',
    replace: 'elseif balance_room <= 0 then',
  },
  {
    name: 'a hold is made twice for one request',
    find: "redis.call('HSETNX', holds, request_id, hold) == 0",
    replace: "redis.call('HSET', holds, request_id, hold) == 2",
  },
  {
    name: 'of a run only the last hold counts',
    find: 'take_place(by_account, now, window)',
    replace:
      "take_place(by_account, now, window)\n      account_held = number(redis.call('HGET', account, 'held')) + held",
  },
  {
    name: 'an amount that is none is held',
    find: 'if not (is_amount(wanted) and is_amount(least) and is_amount(lease)) then',
    replace: 'if false then',
  },
  {
    name: 'an amount below nothing is one',
    find: 'number ~= nil and number >= 0',
    replace: 'number ~= nil and number == number',
  },
  {
    name: 'a part of an amount is one',
    find: 'and number % 1 == 0',
    replace: '',
  },
  {
    name: 'an amount that is not exact is one',
    find: 'and number <= AMOUNT_MAX',
    replace: '',
  },
  {
    name: 'requests in flight are never counted down',
    find: 'if due then in_flight = in_flight - 1 end',
    replace: '',
  },
  {
    name: 'a lost hold counts down the requests in flight',
    find: 'if due then in_flight = in_flight - 1 end',
    replace: 'in_flight = in_flight - 1',
  },
  {
    name: 'a hold of nothing stays with its key',
    find: "redis.call('HDEL', key, held_field)",
    replace: "redis.call('HSET', key, held_field, '0')",
  },
  {
    name: 'a renewal that does not extend the lease',
    find: "redis.call('ZADD', renewals, whole(now_ms() + lease), request_id)",
    replace: "redis.call('ZADD', renewals, 'NX', whole(now_ms() + lease), request_id)",
  },
  {
    name: 'a renewal that notes no cost',
    find: "payer .. '|' .. held_text .. '|' .. whole(seen)",
    replace:
      "payer .. '|' .. held_text .. '|' .. (existing and select(4, decode_hold(existing)) or '0')",
  },
  {
    name: 'a hold that comes back takes what others hold',
    find: 'held = limit_to_room(held, 0,',
    replace: 'held = limit_to_room(held, held,',
  },
  {
    name: 'a renewal brings back what was swept',
    find: "local is_marked = redis.call('HEXISTS', done, request_id) == 1",
    replace: 'local is_marked = false',
  },
  {
    name: 'what was swept is forgotten while its request runs',
    find: 'if is_marked then keep_marks(done) end',
    replace: '',
  },
  {
    name: 'only the last write of a record is known again',
    find: "string.sub(write_id .. ',' .. writes, 1, WRITES_CHARS_MAX)",
    replace: "write_id .. ','",
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
    find: 'local key_limit = number(key_rpm)\nlocal by_key = read_window(prefix, key_id, key_window,',
    replace:
      'local key_limit = number(key_rpm)\nlocal by_key = read_window(prefix, account_id, account_window,',
  },
];

/** `npm run test:mutants -- lists events` tries those of some groups alone. */
export const MUTANT_GROUPS: Readonly<Record<string, readonly Mutant[]>> = {
  rates: RATE_MUTANTS,
  access: ACCESS_MUTANTS,
  holds: HOLD_MUTANTS,
  money: MONEY_MUTANTS,
  numbers: NUMBER_MUTANTS,
  telling: TELLING_MUTANTS,
  events: EVENT_MUTANTS,
  lists: LIST_MUTANTS,
};

export const MUTANTS: readonly Mutant[] = Object.values(MUTANT_GROUPS).flat();
