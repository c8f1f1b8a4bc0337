import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { keysOfBucket } from '../keys-of-bucket.ts';

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
  ['account', 'keys', 'holds', 'whole'],
  ['prefix', 'account_id'],
);

type RepairReply = readonly (readonly [
  key: string,
  field: string,
  before: string,
  after: string,
])[];

/**
 * Makes what an account and its keys hold match their open holds. Requests may run meanwhile.
 */
export async function repairHeld(
  connection: Pick<RedisConnection, 'send'>,
  bucket: number,
  accountId: string,
): Promise<FigureRepair[]> {
  const { prefix, account, keysOf, holds, whole } = keysOfBucket(bucket);
  const reply = await script.call(
    connection,
    { account: account(accountId), keys: keysOf(accountId), holds, whole },
    { prefix, account_id: accountId },
  );
  return (reply as RepairReply).map(([key, field, before, after]) => ({
    key: key || null,
    field,
    before,
    after,
  }));
}
