import type { RedisConnection } from '../../../redis/connect-redis.ts';
import { loadLuaScript } from '../../../redis/lua-script.ts';
import { keysOfBucket } from '../../keys-of-bucket.ts';

/** A step of a conversation, as texts of JSON. */
export interface RecalledStep {
  readonly output: string;
  readonly input: string;
}

type RecallReply =
  | {
      readonly kind: 'known';
      /** The previous answer and all before it, the last one first; undefined if one is missing. */
      readonly steps: readonly RecalledStep[] | undefined;
      /** Texts of JSON in the order of the ids; empty for what is not kept. */
      readonly outputs: readonly string[];
    }
  | { readonly kind: 'unknown' | 'revoked' | 'expired' | 'suspended' };

export interface RecallQuestion {
  /** Empty if the whole conversation is not asked for. */
  readonly previousId: string;
  readonly responseIds: readonly string[];
}

const script = loadLuaScript(
  new URL('./recall.lua', import.meta.url),
  ['key', 'whole'],
  ['prefix', 'digest', 'previous_id'],
  ['response_id'],
);

/** Reads what is kept for the account of a key. */
export async function recall(
  connection: Pick<RedisConnection, 'send'>,
  key: { readonly bucket: number; readonly keyId: string; readonly digest: string },
  { previousId, responseIds }: RecallQuestion,
): Promise<RecallReply> {
  const redisKeys = keysOfBucket(key.bucket);
  const [first = '', ...further] = responseIds;
  const reply = (await script.call(
    connection,
    { key: redisKeys.key(key.keyId), whole: redisKeys.whole },
    { prefix: redisKeys.prefix, digest: key.digest, previous_id: previousId, response_id: first },
    further.map((id) => ({ response_id: id })),
  )) as readonly string[];
  const kind = reply[0] as RecallReply['kind'];
  if (kind !== 'known') return { kind };
  const count = Number(reply[1]);
  const steps = Array.from({ length: Math.max(0, count) }, (_, step) => ({
    output: reply[2 + 2 * step] ?? '',
    input: reply[3 + 2 * step] ?? '',
  }));
  const outputs = reply.slice(2 + 2 * steps.length).slice(0, responseIds.length);
  return { kind, steps: count < 0 ? undefined : steps, outputs };
}
