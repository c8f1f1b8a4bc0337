import type { Mutant } from './mutant.ts';

export const RATE_MUTANTS: readonly Mutant[] = [
  {
    name: 'the key loses a place when the account refuses',
    find: 'if by_key.wait > 0 or by_account.wait > 0 then',
    replace: `if key_limit > 0 and by_key.wait == 0 and by_account.wait > 0 then redis.call('HSET', KEYS[1], 'window', take_place(prefix, key_id, now, window, by_key)) end
if by_key.wait > 0 or by_account.wait > 0 then`,
  },
  {
    name: 'a refusal by the cap takes a place',
    find: 'elseif cap_room < least then',
    replace:
      "elseif cap_room < least then redis.call('HSET', account_key, 'window', take_place(prefix, account, now, window, by_account))",
  },
  {
    name: 'one request more than the limit',
    find: 'if count >= limit then',
    replace: 'if count > limit then',
  },
  {
    name: 'a window that includes both of its ends',
    find: 'wait = math.min(find_time(read, prefix, id, count - limit) + window - now, window)',
    replace:
      'wait = math.min(find_time(read, prefix, id, count - limit) + window + 1 - now, window)',
  },
  {
    name: 'only the limit of the key counts',
    find: "'held', whole(account_held), 'window', account_window)",
    replace: "'held', whole(account_held))",
  },
  {
    name: 'all requests of a run take one place',
    find: 'account_window = take_place(prefix, account, now, window, by_account)',
    replace:
      'account_window = is_changed and account_window or take_place(prefix, account, now, window, by_account)',
  },
  {
    name: 'the shorter wait is told',
    find: 'if by_key.wait >= by_account.wait then',
    replace: 'if by_key.wait <= by_account.wait then',
  },
  {
    name: 'a log that is forgotten within its window',
    find: "redis.call('PEXPIRE', log_name(prefix, id), 3 * window)",
    replace: "redis.call('PEXPIRE', log_name(prefix, id), whole(window / 4))",
  },
  {
    name: 'a log whose life is never renewed',
    find: 'if is_new or blocks > 0 and last - last % window ~= now - now % window then',
    replace: 'if is_new then',
  },
  {
    name: 'times that go backwards with the clock',
    find: 'local time = math.max(now, last)',
    replace: 'local time = now',
  },
  {
    name: 'a log of the future that is never dropped',
    find: 'if now - last >= window or last - now > window then',
    replace: 'if now - last >= window then',
  },
  {
    name: 'the oldest entries are kept',
    find: "redis.call('LTRIM', log, whole(read.dropped), '-1')",
    replace: "redis.call('LTRIM', log, '0', '-1')",
  },
  {
    name: 'a block of the log is read again and again',
    find: 'read.dropped, read.blocks = low, read.blocks - low',
    replace: 'read.blocks = read.blocks - low',
  },
  {
    name: 'what the log has is not counted',
    find: ' + read.blocks * BLOCK_TIMES\n  if count',
    replace: '\n  if count',
  },
  {
    name: 'every call for a request takes a place',
    find: '      -- Nothing has been changed for this request until here.\n',
    replace:
      "if key_limit > 0 then redis.call('HSET', KEYS[1], 'window', take_place(prefix, key_id, now, window, by_key)) end\n",
  },
  {
    name: 'every call for a request takes a place of the account',
    find: '      -- Nothing has been changed for this request until here.\n',
    replace:
      "redis.call('HSET', account_key, 'window', take_place(prefix, account, now, window, by_account))\n",
  },
  {
    name: 'a request that runs is refused',
    find: "local existing = refusal and redis.call('HGET', KEYS[2], request_id)",
    replace: 'local existing',
  },
];
