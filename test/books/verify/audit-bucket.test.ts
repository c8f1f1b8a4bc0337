import { expect, it } from 'vitest';
import { auditBucket } from '../../../src/books/stream/audit-bucket.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { useRedis } from '../use-redis.ts';

const BUCKET = 7;
const redis = useRedis();

it('accounts with many keys are looked at one at a time, and the others together', async () => {
  const { connection } = redis;
  const { prefix } = keysOfBucket(BUCKET);
  const accounts = { large_1: 1_000, large_2: 1_000, small_1: 1, small_2: 1 };
  for (const [id, count] of Object.entries(accounts)) {
    await connection.send('hset', [`${prefix}account:${id}`, 'version', '1']);
    const keyIds = Array.from({ length: count }, (_, n) => `${id}-${n}`);
    await connection.send('sadd', [`${prefix}keys:${id}`, ...keyIds]);
  }
  const pages: string[] = [];
  for await (const audit of auditBucket(connection, BUCKET, Object.keys(accounts))) {
    pages.push(audit.accounts.map(({ id, keys }) => `${id}: ${keys.size}`).join(', '));
  }
  expect(pages).toEqual(['large_1: 1000', 'large_2: 1000', 'small_1: 1, small_2: 1']);
});
