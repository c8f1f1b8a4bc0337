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
 * Corrects a figure of an account or of one of its keys. False if there is no such record, or if
 * its figure is no longer `before`.
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
