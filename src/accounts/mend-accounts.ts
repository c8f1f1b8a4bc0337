import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { bucketOfAccount } from '../keys/account-id.ts';
import type { Log } from '../lib/log.ts';
import { type FigureCorrection, mend } from '../quota/scripts/mend.ts';
import { restate } from '../quota/scripts/restate.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';
import { type AuditLog, createAuditLog } from './audit/audit-log.ts';

export interface AccountCorrection extends FigureCorrection {
  readonly account: string;
}

interface WantedCorrections {
  /** Whose figures are to match their open holds. */
  readonly accountIds: ReadonlySet<string>;
  /** Figures that are to be as they are here. */
  readonly figures: readonly AccountCorrection[];
}

/**
 * Corrects figures of accounts and their keys, and returns what it has corrected. The audit log
 * gets the figures before and after.
 */
export async function mendAccounts(
  connection: Pick<RedisConnection, 'send'>,
  { accountIds, figures }: WantedCorrections,
  log: Log,
): Promise<AccountCorrection[]> {
  const audit = createAuditLog({ connection, randomBytes, clock: { nowMs: Date.now }, log });
  const all: AccountCorrection[] = [];
  for (const account of new Set([...accountIds, ...figures.map((figure) => figure.account)])) {
    const bucket = bucketOfAccount(account);
    if (bucket === undefined) continue;
    const mended = accountIds.has(account) ? await mend(connection, bucket, account) : [];
    for (const figure of figures.filter((one) => one.account === account)) {
      if (await restate(connection, bucket, account, figure)) mended.push(figure);
    }
    await enterCorrections(audit, account, mended);
    all.push(...mended.map((change) => ({ ...change, account })));
  }
  await audit.close();
  return all;
}

/** One entry for the account, and one for each key. */
async function enterCorrections(
  audit: Pick<AuditLog, 'add'>,
  account: string,
  mended: readonly FigureCorrection[],
): Promise<void> {
  for (const key of new Set(mended.map((change) => change.key))) {
    const changes = mended.filter((change) => change.key === key);
    await audit.add({
      ...{ what: 'ledger.repair', node: hostname(), account, key, outcome: 'done' },
      who: { via: 'cli', token: null, address: null, operator: null },
      before: Object.fromEntries(changes.map(({ field, before }) => [field, before])),
      after: Object.fromEntries(changes.map(({ field, after }) => [field, after])),
    });
  }
}
