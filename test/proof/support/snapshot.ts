import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import type { RedisConnection } from '../../../src/redis/connect-redis.ts';
import { splitLedgerEntry } from '../../support/ledger/split-ledger-entry.ts';

type Fields = ReadonlyMap<string, string>;

export interface HoldRecord {
  readonly accountId: string;
  readonly keyId: string;
  readonly month: string;
  readonly held: number;
  readonly seen: number;
  readonly isRenewed: boolean;
}

export interface LedgerRecord {
  readonly kind: string;
  readonly request: string;
  readonly account: string;
  readonly key: string;
  readonly month: string;
  readonly held: number;
  readonly charged: number;
  readonly short: number;
  readonly balance: number;
}

/** The whole state of a bucket at one instant, with the new entries of the ledger only. */
export interface Snapshot {
  readonly bucket: number;
  readonly holds: ReadonlyMap<string, HoldRecord>;
  /** Request ids in the order of admission, including requests that have ended. */
  readonly leases: readonly string[];
  readonly renewals: readonly string[];
  readonly accounts: ReadonlyMap<string, Fields>;
  /** By account, then by key. */
  readonly keys: ReadonlyMap<string, ReadonlyMap<string, Fields>>;
  readonly ledger: readonly LedgerRecord[];
  /** The id of the last ledger entry. */
  readonly cursor: string;
}

/** One read-only script, so nothing happens between its first and its last read. */
const SOURCE = `#!lua flags=no-writes
local prefix, accounts, keys = ARGV[1], {}, {}
for _, account in ipairs(redis.call('SMEMBERS', prefix .. 'accounts')) do
  accounts[#accounts + 1] = { account, redis.call('HGETALL', prefix .. 'account:' .. account) }
  local own = {}
  for _, key in ipairs(redis.call('SMEMBERS', prefix .. 'keys:' .. account)) do
    own[#own + 1] = { key, redis.call('HGETALL', prefix .. 'key:' .. key) }
  end
  keys[#keys + 1] = { account, own }
end
return {
  redis.call('HGETALL', prefix .. 'holds'), redis.call('LRANGE', prefix .. 'leases', 0, -1),
  redis.call('ZRANGE', prefix .. 'renewals', 0, -1), accounts, keys, redis.call('XRANGE', prefix .. 'ledger', '(' .. ARGV[2], '+'),
}`;

type Reply = readonly [
  holds: string[],
  leases: string[],
  renewals: string[],
  accounts: [string, string[]][],
  keys: [string, [string, string[]][]][],
  ledger: [string, string[]][],
];

export async function takeSnapshot(
  connection: Pick<RedisConnection, 'send'>,
  bucket: number,
  cursor: string,
): Promise<Snapshot> {
  const { prefix, holds: hashTagged } = keysOfBucket(bucket);
  const reply = await connection.send('eval', [SOURCE, '1', hashTagged, prefix, cursor]);
  const [holds, leases, renewals, accounts, keys, ledger] = reply as Reply;
  return {
    bucket,
    holds: new Map([...toMap(holds)].map(([id, text]) => [id, parseHold(text)])),
    leases,
    renewals,
    accounts: new Map(accounts.map(([id, fields]) => [id, toMap(fields)])),
    keys: new Map(
      keys.map(([account, own]) => [
        account,
        new Map(own.map(([id, fields]) => [id, toMap(fields)])),
      ]),
    ),
    ledger: ledger.map(([, fields]) => parseLedgerRecord(splitLedgerEntry(fields))),
    cursor: ledger.at(-1)?.[0] ?? cursor,
  };
}

function toMap(flat: readonly string[]): Map<string, string> {
  const map = new Map<string, string>();
  for (let i = 0; i + 1 < flat.length; i += 2) map.set(flat[i] ?? '', flat[i + 1] ?? '');
  return map;
}

function parseHold(text: string): HoldRecord {
  const [accountId = '', keyId = '', month = '', , held, seen, due] = text.split('|');
  return {
    accountId,
    keyId,
    month,
    held: Number(held),
    seen: Number(seen),
    isRenewed: due === undefined,
  };
}

function parseLedgerRecord(fields: Fields): LedgerRecord {
  const text = (name: string) => fields.get(name) ?? '';
  const number = (name: string) => Number(fields.get(name));
  return {
    kind: text('kind'),
    request: text('request'),
    account: text('account'),
    key: text('key'),
    month: text('month'),
    held: number('held'),
    charged: number('charged'),
    short: number('short'),
    balance: number('balance'),
  };
}
