import { bucketOfAccount } from '../keys/account-id.ts';
import { bucketOfKey } from '../keys/api-key.ts';
import type { LedgerEntry } from './ledger-entry.ts';
import type { LedgerFindings } from './ledger-findings.ts';
import { type LedgerPlace, planPasses, readLedger } from './read-ledger.ts';
import { msOfStreamId } from './stream-id.ts';

/** Which entries are asked for; undefined is all of them. */
export interface LedgerFilter {
  readonly account: string | undefined;
  readonly key: string | undefined;
  readonly fromMs: number | undefined;
  /** The first moment that does not belong to it any more. */
  readonly toMs: number | undefined;
}

/**
 * Yields each matching entry once, in no order. The ids of accounts and keys tell their bucket, so
 * no other bucket is read if one is given.
 */
export async function* filterLedger(
  place: LedgerPlace,
  filter: LedgerFilter,
  findings: LedgerFindings,
): AsyncGenerator<LedgerEntry> {
  for (const buckets of await choosePasses(place, filter)) {
    for await (const entry of readLedger({ ...place, buckets, findings })) {
      if (matches(entry, filter)) yield entry;
    }
  }
}

async function choosePasses(
  place: LedgerPlace,
  { account, key }: LedgerFilter,
): Promise<readonly ReadonlySet<number>[]> {
  if (account === undefined && key === undefined) return planPasses(place);
  const bucket = account === undefined ? bucketOfKey(key ?? '') : bucketOfAccount(account);
  return bucket === undefined ? [] : [new Set([bucket])];
}

function matches(entry: LedgerEntry, { account, key, fromMs, toMs }: LedgerFilter): boolean {
  if (account !== undefined && entry.account !== account) return false;
  if (key !== undefined && entry.key !== key) return false;
  const ms = msOfStreamId(entry.id);
  return ms >= (fromMs ?? 0) && ms < (toMs ?? Number.POSITIVE_INFINITY);
}
