import type { Mutant } from './mutant.ts';

export const RATE_MUTANTS: readonly Mutant[] = [
  {
    name: 'the key loses a place when the account refuses',
    find: 'if key_wait > 0 or account_wait > 0 then',
    replace: `if key_limit > 0 and key_wait == 0 and account_wait > 0 then
      take_place(by_key, now, window)
      redis.call('HSET', key, 'window', write_window(by_key, prefix, key_id, now, window))
    end
    if key_wait > 0 or account_wait > 0 then`,
  },
  {
    name: 'a refusal by the cap takes a place',
    find: 'elseif cap_room < least then',
    replace: `elseif cap_room < least then
      take_place(by_account, now, window)
      redis.call('HSET', account, 'window', write_window(by_account, prefix, account_id, now, window))`,
  },
  {
    name: 'one request more than the limit',
    find: 'if by_account.count >= account_limit then',
    replace: 'if by_account.count > account_limit then',
  },
  {
    name: 'one request more than the limit of the key',
    find: 'if key_limit > 0 and by_key.count >= key_limit then',
    replace: 'if key_limit > 0 and by_key.count > key_limit then',
  },
  {
    name: 'a window that includes both of its ends',
    find: 'if time then return math.min(time + window - now, window) end',
    replace: 'if time then return math.min(time + window + 1 - now, window) end',
  },
  {
    name: 'only the limit of the key counts',
    find: "'held', whole(account_held), 'window', account_window)",
    replace: "'held', whole(account_held))",
  },
  {
    name: 'all requests of a run take one place',
    find: 'take_place(by_account, now, window)',
    replace: 'if not is_changed then take_place(by_account, now, window) end',
  },
  {
    name: 'the shorter wait is told',
    find: 'if key_wait >= account_wait then',
    replace: 'if key_wait <= account_wait then',
  },
  {
    name: 'a log that is forgotten within its window',
    find: "redis.call('PEXPIRE', log_name(prefix, id), 3 * window)",
    replace: "redis.call('PEXPIRE', log_name(prefix, id), whole(window / 4))",
  },
  {
    name: 'a log whose life is never renewed',
    find: 'if is_new or blocks > 0 and read.former - read.former % window ~= now - now % window then',
    replace: 'if is_new then',
  },
  {
    name: 'times that go backwards with the clock',
    find: 'if now > read.last then read.last = now end',
    replace: 'read.last = now',
  },
  {
    name: 'a log of the future that is never dropped',
    find: 'if now - last >= window or last - now > window then',
    replace: 'if now - last >= window then',
  },
  {
    name: 'the oldest entries are kept',
    find: "redis.pcall('LTRIM', log, whole(read.dropped), '-1')",
    replace: "redis.pcall('LTRIM', log, '0', '-1')",
  },
  {
    name: 'a block of the log is read again and again',
    find: 'read.dropped, read.blocks = low, read.blocks - low',
    replace: 'read.blocks = read.blocks - low',
  },
  {
    name: 'what the log has is not counted',
    find: 'read.count = #read.times / TIME_BYTES + read.blocks * BLOCK_TIMES',
    replace: 'read.count = #read.times / TIME_BYTES',
  },
  {
    name: 'every call for a request takes a place',
    find: 'if existing then\n          local payer, held_month, already_held',
    replace: `    if existing and key_limit > 0 then
      take_place(by_key, now, window)
      redis.call('HSET', key, 'window', write_window(by_key, prefix, key_id, now, window))
    end
    if existing then
      local payer, held_month, already_held`,
  },
  {
    name: 'every call for a request takes a place of the account',
    find: 'if existing then\n          local payer, held_month, already_held',
    replace: `    if existing then
      take_place(by_account, now, window)
      redis.call('HSET', account, 'window', write_window(by_account, prefix, account_id, now, window))
      local payer, held_month, already_held`,
  },
  {
    name: 'a request that runs is refused',
    find: "local existing = refusal and redis.call('HGET', holds, request_id)",
    replace: 'local existing',
  },
  {
    name: 'a block is looked for where it was before others expired',
    find: 'local place = read.dropped + math.floor(in_blocks / BLOCK_TIMES)',
    replace: 'local place = math.floor(in_blocks / BLOCK_TIMES)',
  },
  {
    name: 'a log that is gone is read',
    find: "return type(block) == 'string' and #block == BLOCK_BYTES and block",
    replace: "return block or error('it is gone')",
  },
  {
    name: 'blocks that are gone are counted for ever',
    find: 'blocks = tonumber(length) or 0',
    replace: 'blocks = blocks + 1',
  },
  {
    name: 'a wait is told that a block would have, which is gone',
    find: '  read.count = read.count - read.blocks * BLOCK_TIMES\n  read.dropped',
    replace: '  if true then return window end\n  read.dropped',
  },
];
