import { pack } from 'msgpackr';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { keysOfBucket } from '../keys-of-bucket.ts';

/** The keys of one call of the script; Redis serves nobody else meanwhile. */
const KEYS_MAX = 500;

/** One figure of a record that did not match the open holds. */
export interface FigureRepair {
  /** Null if the figure belongs to the account itself. */
  readonly key: string | null;
  /** As in the record, such as `held`, `held:<month>` or `balance`. */
  readonly field: string;
  /** A text, because the wrong value may be anything. */
  readonly before: string;
  readonly after: string;
}

const script = loadLuaScript(
  new URL('./repair-held.lua', import.meta.url),
  ['account', 'holds', 'whole'],
  ['prefix', 'account_id', 'key_ids'],
);

type RepairReply = readonly (readonly [
  key: string,
  field: string,
  before: string,
  after: string,
])[];

/**
 * Makes what an account and its keys hold match their open holds, a few keys at one moment.
 * Requests may run meanwhile, and keys may come.
 */
export async function repairHeld(
  connection: Pick<RedisConnection, 'send'>,
  bucket: number,
  accountId: string,
): Promise<FigureRepair[]> {
  const { prefix, account, keysOf, holds, whole } = keysOfBucket(bucket);
  const keyIds = (await connection.send('smembers', [keysOf(accountId)])) as string[];
  const repaired: FigureRepair[] = [];
  // Runs once even for an account without keys.
  for (let done = 0; done === 0 || done < keyIds.length; done += KEYS_MAX) {
    const reply = (await script.call(
      connection,
      { account: account(accountId), holds, whole },
      { prefix, account_id: accountId, key_ids: pack(keyIds.slice(done, done + KEYS_MAX)) },
    )) as RepairReply;
    for (const [key, field, before, after] of reply) {
      repaired.push({ key: key || null, field, before, after });
    }
  }
  return repaired;
}
