import { randomBytes } from 'node:crypto';
import { bucketOfAccount, mintAccountId } from '../../src/keys/account-id.ts';
import { mintKeyId } from '../../src/keys/api-key.ts';
import { BUCKETS } from '../../src/keys/bucket-tags.ts';
import { createRequestIdMint } from '../../src/lib/request-id.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { encodeLedgerUsage } from '../../src/quota/settlement/settlement.ts';
import type { RedisConnection } from '../../src/redis/connect-redis.ts';
import { DETAILS } from '../../test/support/request-details.ts';

const ACCOUNTS = 300;
const MODELS = ['llm-opus-4.7', 'llm-sonnet-4.6', 'llm-haiku-4.5', 'llm-mini'];
const AT_ONCE = 500;
const USAGE = {
  input: 900,
  cacheRead: 4_000,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 350,
  thinking: 100,
  searches: 0,
};

const mintRequestId = createRequestIdMint(randomBytes);

function mintAccounts(): string[] {
  return Array.from({ length: ACCOUNTS }, (_, i) => mintAccountId((i * 7) % BUCKETS, randomBytes));
}

/** Writes so many entries to the streams, as fast as Redis takes them. */
export async function fillStreams(
  connection: Pick<RedisConnection, 'send'>,
  entries: number,
  ids: readonly string[] = mintAccounts(),
): Promise<void> {
  const accounts = ids.map((id) => {
    const bucket = bucketOfAccount(id) ?? 0;
    return { bucket, id, key: mintKeyId(bucket, randomBytes) };
  });
  const month = new Date().toISOString().slice(0, 7).replace('-', '');
  for (let first = 0; first < entries; first += AT_ONCE) {
    const sent = Array.from({ length: Math.min(AT_ONCE, entries - first) }, async (_, i) => {
      const place = Math.floor(accounts.length * Math.random() ** 2);
      const account = accounts[place];
      if (account === undefined) throw new Error('there are accounts');
      const { bucket, id, key } = account;
      const model = MODELS[(first + i) % MODELS.length];
      const request = mintRequestId(Date.now());
      const entry = `charge|${id}|${key}|${month}|${model}|5000|1234|0|99876543|${request}`;
      const { ledger } = keysOfBucket(bucket);
      const usage = encodeLedgerUsage(USAGE, false, DETAILS);
      await connection.send('xadd', [ledger, '*', 'entry', entry, 'usage', usage]);
    });
    await Promise.all(sent);
  }
}
