import type { LimitLevel } from '../../../src/protocol/rates/limit-state.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import type { RedisConnection } from '../../../src/redis/connect-redis.ts';
import { splitLedgerEntry } from '../../support/ledger/split-ledger-entry.ts';
import { type HoldExtras, parseExtras } from './parse-extras.ts';

type Fields = ReadonlyMap<string, string>;

export interface HoldRecord {
  readonly accountId: string;
  readonly keyId: string;
  readonly month: string;
  readonly held: number;
  readonly seen: number;
  readonly isRenewed: boolean;
  /** Undefined if it counts in no list of limits. */
  readonly extras: HoldExtras | undefined;
}

/** The state of one limit of a list, as `quota/scripts/lua/rows.lua` describes it. */
export interface LimitRow {
  readonly unit: string;
  readonly blocks: boolean;
  /** In ms; 1, 2, 3 for a day, a week, a month. */
  readonly window: number;
  readonly amount: number;
  readonly head: number;
  readonly counted: number;
  readonly current: number;
  readonly held: number;
  readonly since: number;
  /** In all older slices together. */
  readonly sliced: number;
}

export interface LimitSubject {
  readonly level: LimitLevel;
  readonly id: string;
  readonly accountId: string;
  readonly rows: readonly LimitRow[];
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
  /** All that have lists of limits and were used. */
  readonly subjects: readonly LimitSubject[];
  readonly ledger: readonly LedgerRecord[];
  /** The id of the last ledger entry. */
  readonly cursor: string;
}

/** One read-only script, so nothing happens between its first and its last read. */
const SOURCE = `#!lua flags=no-writes
local prefix, accounts, keys, subjects = ARGV[1], {}, {}, {}
local function add(level, id, account)
  local use, rows = redis.call('HGET', prefix .. level .. ':' .. id, 'use'), {}
  if not use then return end
  local _, list_bytes = struct.unpack('<dI2', use)
  local from = 11 + list_bytes
  while from <= #use do
    local unit, window, amount, head, counted, current, held, since, bytes = struct.unpack('<c1dddddddI2', use, from)
    local sliced = 0
    for at = from + 59, from + 58 + ((unit ~= 'r' or window < 4) and bytes or 0), 9 do
      sliced = sliced + select(2, struct.unpack('<Bd', use, at))
    end
    rows[#rows + 1] = string.format('%s|%d|%d|%d|%d|%d|%d|%d|%d', unit, window, amount, head, counted, current, held, since, sliced)
    from = from + 59 + bytes
  end
  subjects[#subjects + 1] = { level, id, account, rows }
end
for _, account in ipairs(redis.call('SMEMBERS', prefix .. 'accounts')) do
  accounts[#accounts + 1] = { account, redis.call('HGETALL', prefix .. 'account:' .. account) }
  local own = {}
  for _, key in ipairs(redis.call('SMEMBERS', prefix .. 'keys:' .. account)) do
    own[#own + 1] = { key, redis.call('HGETALL', prefix .. 'key:' .. key) }
    add('key', key, account)
  end
  add('account', account, account)
  for _, group in ipairs(redis.call('SMEMBERS', prefix .. 'groups:' .. account)) do add('group', group, account) end
  for _, user in ipairs(redis.call('ZRANGE', prefix .. 'users:' .. account, 0, -1)) do add('user', user, account) end
  keys[#keys + 1] = { account, own }
end
return {
  redis.call('HGETALL', prefix .. 'holds'), redis.call('LRANGE', prefix .. 'leases', 0, -1),
  redis.call('ZRANGE', prefix .. 'renewals', 0, -1), accounts, keys, subjects, redis.call('XRANGE', prefix .. 'ledger', '(' .. ARGV[2], '+'),
}`;

type NumbersOfRow = [number, number, number, number, number, number, number, number];

type Reply = readonly [
  holds: string[],
  leases: string[],
  renewals: string[],
  accounts: [string, string[]][],
  keys: [string, [string, string[]][]][],
  subjects: [LimitLevel, string, string, string[]][],
  ledger: [string, string[]][],
];

export async function takeSnapshot(
  connection: Pick<RedisConnection, 'send'>,
  bucket: number,
  cursor: string,
): Promise<Snapshot> {
  const { prefix, holds: hashTagged } = keysOfBucket(bucket);
  const reply = await connection.send('eval', [SOURCE, '1', hashTagged, prefix, cursor]);
  const [holds, leases, renewals, accounts, keys, subjects, ledger] = reply as Reply;
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
    subjects: subjects.map(([level, id, accountId, rows]) => {
      return { level, id, accountId, rows: rows.map(parseRow) };
    }),
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
  const [accountId = '', keyId = '', month = '', , held, seen, due = '', extras = ''] =
    text.split('|');
  return {
    accountId,
    keyId,
    month,
    held: Number(held),
    seen: Number(seen),
    isRenewed: due === '',
    extras: parseExtras(extras),
  };
}

function parseRow(text: string): LimitRow {
  const [letter = '', ...numbers] = text.split('|');
  const [window, amount, head, counted, current, held, since, sliced] = numbers.map(
    Number,
  ) as NumbersOfRow;
  const unit = letter.toLowerCase();
  const blocks = unit === letter;
  return { unit, blocks, window, amount, head, counted, current, held, since, sliced };
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
