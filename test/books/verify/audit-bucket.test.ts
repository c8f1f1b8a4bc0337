import { expect, it } from 'vitest';
import { auditBucket } from '../../../src/books/stream/audit-bucket.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { useRedis } from '../use-redis.ts';

const BUCKET = 7;
const redis = useRedis();

async function createAccounts(accounts: Readonly<Record<string, number>>): Promise<void> {
  const { account, keysOf } = keysOfBucket(BUCKET);
  for (const [id, count] of Object.entries(accounts)) {
    await redis.connection.send('hset', [account(id), 'version', '1']);
    const keyIds = Array.from({ length: count }, (_, n) => `${id}-${n}`);
    await redis.connection.send('sadd', [keysOf(id), ...keyIds]);
  }
}

it('accounts with many keys are looked at one at a time, and the others together', async () => {
  const { connection } = redis;
  const accounts = { large_1: 1_000, large_2: 1_000, small_1: 1, small_2: 1 };
  await createAccounts(accounts);
  const pages: string[] = [];
  for await (const audit of auditBucket(connection, BUCKET, Object.keys(accounts))) {
    pages.push(audit.accounts.map(({ id, keys }) => `${id}: ${keys.size}`).join(', '));
  }
  expect(pages).toEqual(['large_1: 1000', 'large_2: 1000', 'small_1: 1, small_2: 1']);
});

it('an account with too many keys for one call is looked at in parts, at each key once', async () => {
  await createAccounts({ small: 1, huge: 10_000, last: 1 });
  const seen: string[] = [];
  const sizes: number[] = [];
  for await (const audit of auditBucket(redis.connection, BUCKET, ['small', 'huge', 'last'])) {
    const keyIds = audit.accounts.flatMap(({ keys }) => [...keys.keys()]);
    seen.push(...keyIds);
    sizes.push(keyIds.length);
  }
  expect(new Set(seen).size).toBe(10_002);
  expect(seen).toHaveLength(10_002);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000);
  expect([sizes[0], sizes.at(-1)]).toEqual([1, 1]);
});
