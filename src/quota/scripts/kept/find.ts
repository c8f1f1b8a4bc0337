import type { RedisConnection } from '../../../redis/connect-redis.ts';
import { loadLuaScript } from '../../../redis/lua-script.ts';
import { keysOfBucket } from '../../keys-of-bucket.ts';

/** Texts of JSON. */
interface FoundTexts {
  readonly output: string;
  readonly input: string;
  /** The response without its output. */
  readonly response: string;
}

const script = loadLuaScript(new URL('./find.lua', import.meta.url), ['kept'], ['response_id']);

/** Undefined if the answer is not kept, or only its output. */
export async function find(
  connection: Pick<RedisConnection, 'send'>,
  { bucket, accountId }: { readonly bucket: number; readonly accountId: string },
  responseId: string,
): Promise<FoundTexts | undefined> {
  const reply = (await script.call(
    connection,
    { kept: keysOfBucket(bucket).kept(accountId) },
    { response_id: responseId },
  )) as readonly string[];
  const [output, input = '', response = ''] = reply;
  return output === undefined ? undefined : { output, input, response };
}
