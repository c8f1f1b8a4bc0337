import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { bucketOfAccount } from '../keys/account-id.ts';
import type { Log } from '../lib/log.ts';
import { repairFigure } from '../quota/scripts/repair-figure.ts';
import { type FigureRepair, repairHeld } from '../quota/scripts/repair-held.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';
import { type AuditLog, createAuditLog } from './audit/audit-log.ts';

export interface AccountRepair extends FigureRepair {
  readonly account: string;
}

interface WantedRepairs {
  /** Accounts whose figures must match their open holds. */
  readonly accountIds: ReadonlySet<string>;
  /** Figures to set to the values given here. */
  readonly figures: readonly AccountRepair[];
}

/**
 * Repairs figures of accounts and their keys, and returns what it has repaired. The audit log gets
 * the figures before and after.
 */
export async function repairAccounts(
  connection: Pick<RedisConnection, 'send'>,
  { accountIds, figures }: WantedRepairs,
  log: Log,
): Promise<AccountRepair[]> {
  const audit = createAuditLog({ connection, randomBytes, clock: { nowMs: Date.now }, log });
  const all: AccountRepair[] = [];
  for (const account of new Set([...accountIds, ...figures.map((figure) => figure.account)])) {
    const bucket = bucketOfAccount(account);
    if (bucket === undefined) continue;
    const repaired = accountIds.has(account) ? await repairHeld(connection, bucket, account) : [];
    for (const figure of figures.filter((one) => one.account === account)) {
      if (await repairFigure(connection, bucket, account, figure)) repaired.push(figure);
    }
    await enterRepairs(audit, account, repaired);
    all.push(...repaired.map((change) => ({ ...change, account })));
  }
  await audit.close();
  return all;
}

/** One entry for the account, and one for each key. */
async function enterRepairs(
  audit: Pick<AuditLog, 'add'>,
  account: string,
  repaired: readonly FigureRepair[],
): Promise<void> {
  for (const key of new Set(repaired.map((change) => change.key))) {
    const changes = repaired.filter((change) => change.key === key);
    await audit.add({
      ...{ what: 'ledger.repair', node: hostname(), account, key, outcome: 'done' },
      who: { via: 'cli', token: null, address: null, operator: null },
      before: Object.fromEntries(changes.map(({ field, before }) => [field, before])),
      after: Object.fromEntries(changes.map(({ field, after }) => [field, after])),
    });
  }
}
