import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { bucketOfAccount } from '../keys/account-id.ts';
import type { Log } from '../lib/log.ts';
import { type FigureCorrection, mend } from '../quota/scripts/mend.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';
import { createAuditLog } from './audit/audit-log.ts';

export interface AccountCorrection extends FigureCorrection {
  readonly account: string;
}

/**
 * Corrects what accounts and their keys count as held. The audit log gets the figures before and
 * after.
 */
export async function mendAccounts(
  connection: Pick<RedisConnection, 'send'>,
  accountIds: Iterable<string>,
  log: Log,
): Promise<AccountCorrection[]> {
  const audit = createAuditLog({ connection, randomBytes, clock: { nowMs: Date.now }, log });
  const all: AccountCorrection[] = [];
  for (const account of accountIds) {
    const bucket = bucketOfAccount(account);
    if (bucket === undefined) continue;
    const mended = await mend(connection, bucket, account);
    for (const key of new Set(mended.map((change) => change.key))) {
      const changes = mended.filter((change) => change.key === key);
      await audit.add({
        ...{ what: 'ledger.repair', node: hostname(), account, key, outcome: 'done' },
        who: { via: 'cli', token: null, address: null, operator: null },
        before: Object.fromEntries(changes.map(({ field, before }) => [field, before])),
        after: Object.fromEntries(changes.map(({ field, after }) => [field, after])),
      });
    }
    all.push(...mended.map((change) => ({ ...change, account })));
  }
  await audit.close();
  return all;
}
