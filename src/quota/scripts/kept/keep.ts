import type { RedisConnection } from '../../../redis/connect-redis.ts';
import { loadLuaScript } from '../../../redis/lua-script.ts';
import { keysOfBucket } from '../../keys-of-bucket.ts';

/** An answer as texts of JSON. */
export interface AnswerTexts {
  readonly id: string;
  /** Empty if no answer comes before it. */
  readonly previousId: string;
  readonly output: string;
  /** Empty if the answer is kept without what was asked. */
  readonly input: Buffer | '';
  /** The response with an empty output. */
  readonly response: string;
}

interface KeepBounds {
  readonly ttlMs: number;
  readonly answerBytesMax: number;
  readonly accountBytesMax: number;
  readonly bucketBytesMax: number;
}

export const KEEP_OUTCOMES = ['kept', 'too_large', 'full', 'unknown'] as const;

interface KeepReply {
  readonly outcome: (typeof KEEP_OUTCOMES)[number];
  /** What all accounts of the bucket keep together. */
  readonly bucketBytes: number;
}

const script = loadLuaScript(
  new URL('./keep.lua', import.meta.url),
  ['key', 'whole'],
  [
    ...(['prefix', 'response_id', 'previous_id', 'input', 'output', 'response'] as const),
    ...(['ttl_ms', 'answer_bytes_max', 'account_bytes_max', 'bucket_bytes_max'] as const),
  ],
);

/** Keeps an answer for the account of a key. */
export async function keep(
  connection: Pick<RedisConnection, 'send'>,
  key: { readonly bucket: number; readonly keyId: string },
  texts: AnswerTexts,
  bounds: KeepBounds,
): Promise<KeepReply> {
  const redisKeys = keysOfBucket(key.bucket);
  const reply = await script.call(
    connection,
    { key: redisKeys.key(key.keyId), whole: redisKeys.whole },
    {
      prefix: redisKeys.prefix,
      response_id: texts.id,
      previous_id: texts.previousId,
      input: texts.input,
      output: texts.output,
      response: texts.response,
      ttl_ms: bounds.ttlMs,
      answer_bytes_max: bounds.answerBytesMax,
      account_bytes_max: bounds.accountBytesMax,
      bucket_bytes_max: bounds.bucketBytesMax,
    },
  );
  const [outcome, bucketBytes] = reply as [KeepReply['outcome'], number];
  return { outcome, bucketBytes };
}
