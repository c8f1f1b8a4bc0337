import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { keysOfBucket } from '../keys-of-bucket.ts';
import type { FigureRepair } from './repair-held.ts';

const script = loadLuaScript(
  new URL('./repair-figure.lua', import.meta.url),
  ['record', 'whole'],
  ['prefix', 'account_id', 'field', 'found', 'after'],
);

/**
 * Gives an account or one of its keys another figure. False if there is no such record, or if the
 * figure is not the one before any more.
 */
export async function repairFigure(
  connection: Pick<RedisConnection, 'send'>,
  bucket: number,
  accountId: string,
  { key, field, before, after }: FigureRepair,
): Promise<boolean> {
  const { prefix, whole, ...names } = keysOfBucket(bucket);
  const record = key === null ? names.account(accountId) : names.key(key);
  const args = { prefix, account_id: accountId, field, found: before, after };
  return (await script.call(connection, { record, whole }, args)) === 1;
}
