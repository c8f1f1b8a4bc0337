import type { RedisConnection } from '../../../redis/connect-redis.ts';
import { loadLuaScript } from '../../../redis/lua-script.ts';
import { keysOfBucket } from '../../keys-of-bucket.ts';

const script = loadLuaScript(
  new URL('./forget.lua', import.meta.url),
  ['kept', 'whole'],
  ['prefix', 'account_id', 'response_id'],
);

/** Returns whether the answer was kept. */
export async function forget(
  connection: Pick<RedisConnection, 'send'>,
  { bucket, accountId }: { readonly bucket: number; readonly accountId: string },
  responseId: string,
): Promise<boolean> {
  const redisKeys = keysOfBucket(bucket);
  const reply = await script.call(
    connection,
    { kept: redisKeys.kept(accountId), whole: redisKeys.whole },
    { prefix: redisKeys.prefix, account_id: accountId, response_id: responseId },
  );
  return Number(reply) === 1;
}
