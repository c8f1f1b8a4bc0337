import type { Mutant } from './mutant.ts';

export const RATE_MUTANTS: readonly Mutant[] = [
  {
    name: 'the key loses a place when the account refuses',
    find: 'if by_key.wait > 0 or by_account.wait > 0 then',
    replace: `if by_key.wait == 0 and by_account.wait > 0 then take_place(KEYS[2], key_limit, now, window, by_key) end
if by_key.wait > 0 or by_account.wait > 0 then`,
  },
  {
    name: 'a refusal by the cap takes a place',
    find: 'if cap_room < least then',
    replace:
      'if cap_room < least then take_place(account_log, account_limit, now, window, by_account)',
  },
  {
    name: 'one request more than the limit',
    find: 'if count >= limit then',
    replace: 'if count > limit then',
  },
  {
    name: 'a window that includes both of its ends',
    find: "wait = math.min(redis.call('LINDEX', log, limit - 1) + window - now, window)",
    replace: "wait = math.min(redis.call('LINDEX', log, limit - 1) + window + 1 - now, window)",
  },
  {
    name: 'only the limit of the key counts',
    find: 'take_place(account_log, account_limit, now, window, by_account)\n',
    replace: '',
  },
  {
    name: 'the shorter wait is told',
    find: 'if by_key.wait >= by_account.wait then',
    replace: 'if by_key.wait <= by_account.wait then',
  },
  {
    name: 'a log that is forgotten within its window',
    find: "redis.call('PEXPIRE', log, 3 * window)",
    replace: "redis.call('PEXPIRE', log, whole(window / 4))",
  },
  {
    name: 'a log whose life is never renewed',
    find: 'if not read.newest or math.floor(read.newest / window) ~= math.floor(now / window) then',
    replace: 'if not read.newest then',
  },
  {
    name: 'times that go backwards with the clock',
    find: "redis.call('LPUSH', log, whole(math.max(now, read.newest or 0)))",
    replace: "redis.call('LPUSH', log, whole(now))",
  },
  {
    name: 'a log of the future that is never dropped',
    find: 'if newest and newest - now > window then',
    replace: 'if false then',
  },
  {
    name: 'the oldest entries are kept',
    find: "redis.call('LTRIM', log, 0, expired - 1)",
    replace: "redis.call('LTRIM', log, 0, -1)",
  },
  {
    name: 'every call for a request takes a place',
    find: '-- Nothing has been changed until here.\n',
    replace: 'take_place(KEYS[2], key_limit, now, window, by_key)\n',
  },
  {
    name: 'every call for a request takes a place of the account',
    find: '-- Nothing has been changed until here.\n',
    replace: 'take_place(account_log, account_limit, now, window, by_account)\n',
  },
  {
    name: 'a request that runs is refused',
    find: 'if existing then return answer_again(existing) end',
    replace: '',
  },
];
