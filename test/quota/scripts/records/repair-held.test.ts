import { expect, it } from 'vitest';
import { repairHeld } from '../../../../src/quota/scripts/repair-held.ts';
import type { RedisConnection } from '../../../../src/redis/connect-redis.ts';
import { ACCOUNT, BUCKET, KEY, openScripts, redisKeys } from '../open-scripts.ts';

const KEYS = 1_200;

const scripts = openScripts('repair-held');
const repair = () => repairHeld(scripts.connection, BUCKET, ACCOUNT);

it('gives an account without keys what its open holds say', async () => {
  await scripts.setAccount({ held: 7 });
  expect(await repair()).toEqual([{ key: null, field: 'held', before: '7', after: '0' }]);
  expect(await scripts.account()).toMatchObject({ held: '0' });
});

it('gives many keys what their open holds say, and looks at few of them in one call', async () => {
  await scripts.admit();
  const held = Number((await scripts.account())['held']);
  const { in_flight: _, ...fields } = await scripts.hash(redisKeys.key(KEY));
  const idle = Array.from({ length: KEYS }, (_, n) => `key_${n}`);
  await scripts.send('sadd', redisKeys.keysOf(ACCOUNT), KEY, ...idle);
  for (const id of idle) await scripts.send('hset', redisKeys.key(id), 'in_flight', 3);
  await scripts.send('hdel', redisKeys.key(KEY), 'in_flight');
  await scripts.setAccount({ held: 7 });
  const packs: number[] = [];
  const connection: Pick<RedisConnection, 'send'> = {
    send(command, args) {
      if (command === 'eval') packs.push(Buffer.byteLength(args.at(-1) as Buffer));
      return scripts.connection.send(command, args);
    },
  };

  const repaired = await repairHeld(connection, BUCKET, ACCOUNT);
  expect(repaired).toHaveLength(KEYS + 2);
  expect(repaired).toContainEqual({ key: null, field: 'held', before: '7', after: String(held) });
  expect(repaired).toContainEqual({ key: KEY, field: 'in_flight', before: '0', after: '1' });
  expect(await scripts.hash(redisKeys.key(KEY))).toEqual({ ...fields, in_flight: '1' });
  expect(await scripts.hash(redisKeys.key('key_1199'))).toEqual({ in_flight: '0' });
  // Some nine bytes a key.
  expect(Math.max(...packs)).toBeLessThan(500 * 12);
  expect(packs.length).toBeGreaterThan(2);
  expect(await repair()).toEqual([]);
});
