import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadLuaScript } from '../../src/redis/lua-script.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  type TestConnection,
  tcp,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import {
  makeTempFolder,
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';

const MOVE = `#!lua
--[[
  Move: takes from one balance and adds to another.

  KEYS  from_balance, to_balance
  ARGV  amount, note,
        move_id
  Reply {from, to}

  More to say may follow.
]]
local from_balance, to_balance = KEYS[1], KEYS[2]
return {
  redis.call('DECRBY', from_balance, ARGV[1]),
  redis.call('INCRBY', to_balance, ARGV[1]),
  ARGV[2],
  ARGV[3],
}
`;

const COUNT = `#!lua
--[[
  Count: adds to several counters.

  KEYS  counters
  ARGV  unit
  Each  name, amount
  Reply the amounts, with the unit
]]
local replies = {}
for first = 2, #ARGV, 2 do
  replies[#replies + 1] = redis.call('HINCRBY', KEYS[1], ARGV[first], ARGV[first + 1]) .. ARGV[1]
end
return replies
`;

const KEY_NAMES = ['from_balance', 'to_balance'] as const;
const ARG_NAMES = ['amount', 'note', 'move_id'] as const;

afterAll(stopRedisServers);

function writeScript(text: string): URL {
  const path = join(makeTempFolder(), 'move.lua');
  writeFileSync(path, text);
  return pathToFileURL(path);
}

describe('a script', () => {
  let server: TestRedisServer;
  let connection: TestConnection;
  const keys = { from_balance: '{a}:1', to_balance: '{a}:2' };

  beforeAll(async () => {
    server = await startRedisServer();
    connection = openConnection(standalone(tcp(server.port)));
    await waitForRedis(connection);
  });
  afterAll(closeConnections);
  afterEach(() => server.cli('flushall'));

  it('is called by names, whatever the order they are written in', async () => {
    const script = loadLuaScript(writeScript(MOVE), KEY_NAMES, ARG_NAMES);
    const reply = await script.call(
      connection,
      { to_balance: '{a}:2', from_balance: '{a}:1' },
      { move_id: 'm1', amount: 7, note: 'rent' },
    );
    expect(reply).toEqual([-7, 7, 'rent', 'm1']);
  });

  it('takes more of the same in one run, where its header says what comes again', async () => {
    const script = loadLuaScript(writeScript(COUNT), ['counters'], ['unit'], ['name', 'amount']);
    const first = { unit: 'kg', name: 'a', amount: 1 };
    const counters = '{a}:counters';
    expect(await script.call(connection, { counters }, first)).toEqual(['1kg']);
    const further = [
      { amount: 5, name: 'b' },
      { name: 'a', amount: 2 },
    ];
    expect(await script.call(connection, { counters }, first, further)).toEqual([
      ...['2kg', '5kg', '4kg'],
    ]);
    const broken = [{ name: 'b', amount: 0.5 }];
    await expect(script.call(connection, { counters }, first, broken)).rejects.toThrow(
      'amount is a safe integer',
    );
    const mistake = () =>
      // @ts-expect-error what all share does not come again
      script.call(connection, { counters }, first, [{ name: 'b', amount: 1, unit: 'kg' }]);
    expect(mistake).toBeTypeOf('function');
  });

  it('survives SCRIPT FLUSH, and runs once for every call', async () => {
    const script = loadLuaScript(writeScript(MOVE), KEY_NAMES, ARG_NAMES);
    const args = { amount: 1, note: '', move_id: '' };
    await script.call(connection, keys, args);
    await server.cli('script', 'flush');
    await Promise.all(Array.from({ length: 20 }, () => script.call(connection, keys, args)));
    expect(await server.cli('get', keys.to_balance)).toBe('21');
  });

  it('does not ask a second time when the script itself fails', async () => {
    const script = loadLuaScript(writeScript(MOVE), KEY_NAMES, ARG_NAMES);
    await script.call(connection, keys, { amount: 1, note: '', move_id: '' });
    await server.cli('set', keys.to_balance, 'text');
    const call = script.call(connection, keys, { amount: 1, note: '', move_id: '' });
    await expect(call).rejects.toThrow('not an integer');
    expect(await server.cli('get', keys.from_balance)).toBe('-2');
  });

  it('passes bytes through unchanged', async () => {
    const script = loadLuaScript(writeScript(MOVE), KEY_NAMES, ARG_NAMES);
    const note = Buffer.from([0x61, 0x00, 0x0d, 0x0a, 0x62]);
    const reply = await script.call(connection, keys, { amount: 1, note, move_id: 'm' });
    expect(reply).toEqual([-1, 1, 'a\0\r\nb', 'm']);
  });

  it.each([1.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY])(
    'refuses the number %s, which Lua would round',
    async (amount) => {
      const script = loadLuaScript(writeScript(MOVE), KEY_NAMES, ARG_NAMES);
      const call = script.call(connection, keys, { amount, note: '', move_id: '' });
      await expect(call).rejects.toThrow('amount is a safe integer');
    },
  );

  it('refuses keys with different hash tags, which a Cluster could not serve', async () => {
    const script = loadLuaScript(writeScript(MOVE), KEY_NAMES, ARG_NAMES);
    const call = script.call(
      connection,
      { from_balance: 'gw:{a}:x', to_balance: 'gw:{b}:x' },
      { amount: 1, note: '', move_id: '' },
    );
    await expect(call).rejects.toThrow('gw:{b}:x has the hash tag of gw:{a}:x');
  });

  it('demands exactly its names at compile time', () => {
    const script = loadLuaScript(writeScript(MOVE), KEY_NAMES, ARG_NAMES);
    const none = loadLuaScript(
      writeScript('--[[\n  None: takes nothing.\n\n  KEYS  -\n  ARGV  -\n  Reply 1\n]]\nreturn 1'),
      [],
      [],
    );
    // Never called: the test is whether this compiles.
    const mistakes = () => [
      // @ts-expect-error a key is missing
      script.call(connection, { from_balance: '' }, { amount: 1, note: '', move_id: '' }),
      // @ts-expect-error an argument is missing
      script.call(connection, keys, { amount: 1, note: '' }),
      // @ts-expect-error an argument is unknown
      script.call(connection, keys, { amount: 1, note: '', move_id: '', extra: 1 }),
      // @ts-expect-error this script takes no arguments
      none.call(connection, {}, { extra: 1 }),
    ];
    expect(mistakes).toBeTypeOf('function');
    return expect(none.call(connection, {}, {})).resolves.toBe(1);
  });
});

describe('the header of a script', () => {
  const load = (text: string) => () => loadLuaScript(writeScript(text), KEY_NAMES, ARG_NAMES);

  it('may follow a first line with flags, or stand alone', () => {
    expect(load(MOVE.replace('#!lua', '#!lua flags=allow-oom,no-writes'))).not.toThrow();
    expect(load(MOVE.replace('#!lua\n', ''))).not.toThrow();
  });

  it('must have the keys of the wrapper in its order, or both are shown', () => {
    const swapped = MOVE.replace(
      'from_balance, to_balance\n  ARGV',
      'to_balance, from_balance\n  ARGV',
    );
    expect(load(swapped)).toThrow(
      'move.lua: KEYS differ\n  header:  to_balance, from_balance\n  wrapper: from_balance, to_balance',
    );
  });

  it('must have the arguments of the wrapper, or both are shown', () => {
    expect(load(MOVE.replace('amount, note,', 'amount,'))).toThrow(
      'move.lua: ARGV differ\n  header:  amount, move_id\n  wrapper: amount, note, move_id',
    );
  });

  it('must have the arguments that come again of the wrapper, or both are shown', () => {
    expect(() => loadLuaScript(writeScript(COUNT), ['counters'], ['unit'], ['name'])).toThrow(
      'move.lua: Each differ\n  header:  name, amount\n  wrapper: name',
    );
  });

  it('writes an empty list as a dash', () => {
    const text = MOVE.replace('amount, note,\n        move_id', '-');
    expect(load(text)).toThrow('ARGV differ\n  header:  \n  wrapper: amount, note, move_id');
    expect(() => loadLuaScript(writeScript(text), KEY_NAMES, [])).not.toThrow();
  });

  it.each([
    ['no comment', (text: string) => text.replace('--[[', ''), 'must start with a comment'],
    ['code first', (text: string) => `local x = 1\n${text}`, 'must start with a comment'],
    ['no summary', (text: string) => text.replace('Move: takes', 'takes'), 'what the script does'],
    ['no Reply', (text: string) => text.replace('Reply', 'Gives'), 'KEYS, ARGV and Reply'],
    ['an empty Reply', (text: string) => text.replace('{from, to}', ''), 'KEYS, ARGV and Reply'],
    ['no KEYS', (text: string) => text.replace('KEYS ', 'Keys '), 'KEYS, ARGV and Reply'],
    ['an empty list', (t: string) => t.replace('KEYS  from_balance, to_balance', 'KEYS'), 'KEYS,'],
    ['a missing comma', (t: string) => t.replace('amount, note', 'amount note'), 'snake_case'],
    ['a name too many commas', (t: string) => t.replace('amount, note', 'amount,, note'), '""'],
  ])('is refused with %s', (_, spoil, message) => {
    expect(load(spoil(MOVE))).toThrow(message);
    expect(load(spoil(MOVE))).toThrow('move.lua: ');
  });
});
