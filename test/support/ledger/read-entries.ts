import { bucketOfAccount } from '../../../src/keys/account-id.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { runProgram } from '../../cli/use-cli.ts';
import type { TestConnection } from '../servers/redis-connection.ts';
import type { Gateway } from '../servers/start-gateway.ts';
import { splitLedgerEntry } from './split-ledger-entry.ts';

export interface Entry {
  readonly kind: string;
  readonly request: string;
  readonly charged: number;
  readonly short: number;
}

interface LedgerLine extends Pick<Entry, 'kind' | 'request'> {
  readonly id: string;
  readonly charged_micros: number;
  readonly short_micros: number;
}

interface EntriesOfAccount {
  readonly store: TestConnection;
  readonly gateway: Pick<Gateway, 'dataDir'>;
  readonly account: string;
}

/**
 * Every entry of an account, payments included. By a clock that is ahead, the books trim what they
 * have; by one that was set back, they wait. So both Redis and the books are read.
 */
export async function readEntries(of: EntriesOfAccount): Promise<readonly Entry[]> {
  const entries = await readRecentEntries(of);
  const env = { TOLLGATE_DATA_DIR: of.gateway.dataDir };
  const { out } = await runProgram(env, 'ledger', 'export', '--account', of.account);
  for (const text of out.split('\n').filter((line) => line !== '')) {
    const { id, kind, request, ...line } = JSON.parse(text) as LedgerLine;
    entries.set(id, { kind, request, charged: line.charged_micros, short: line.short_micros });
  }
  return [...entries.values()];
}

/** The entries that are still in Redis, by their places. */
export async function readRecentEntries({
  store,
  account,
}: Omit<EntriesOfAccount, 'gateway'>): Promise<Map<string, Entry>> {
  const { ledger } = keysOfBucket(bucketOfAccount(account) ?? -1);
  const found = (await store.send('xrange', [ledger, '-', '+'])) as [string, string[]][];
  const entries = new Map<string, Entry>();
  for (const [id, fields] of found) {
    const entry = splitLedgerEntry(fields);
    if (entry.get('account') !== account) continue;
    entries.set(id, {
      kind: entry.get('kind') ?? '',
      request: entry.get('request') ?? '',
      charged: Number(entry.get('charged')),
      short: Number(entry.get('short')),
    });
  }
  return entries;
}
