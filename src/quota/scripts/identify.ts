import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { keysOfBucket } from '../keys-of-bucket.ts';

export type IdentifyReply =
  | {
      readonly kind: 'known';
      readonly accountId: string;
      /** Ids and aliases that the key may use; undefined for all models. */
      readonly models: readonly string[] | undefined;
    }
  | { readonly kind: 'unknown' | 'revoked' | 'expired' | 'suspended' };

const script = loadLuaScript(
  new URL('./identify.lua', import.meta.url),
  ['key', 'whole'],
  ['prefix', 'digest'],
);

/** Finds the account of a key, for requests that cost nothing. */
export async function identify(
  connection: Pick<RedisConnection, 'send'>,
  key: { readonly bucket: number; readonly keyId: string; readonly digest: string },
): Promise<IdentifyReply> {
  const redisKeys = keysOfBucket(key.bucket);
  const reply = await script.call(
    connection,
    { key: redisKeys.key(key.keyId), whole: redisKeys.whole },
    { prefix: redisKeys.prefix, digest: key.digest },
  );
  const [kind, accountId, models] = reply as [IdentifyReply['kind'], string, string];
  if (kind !== 'known') return { kind };
  return {
    kind,
    accountId,
    models: models === '' ? undefined : models.split(',').filter((name) => name !== ''),
  };
}
