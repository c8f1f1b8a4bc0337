import { pack } from 'msgpackr';
import { keysOfBucket } from '../../quota/keys-of-bucket.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { STREAM_START, type StreamId, streamIdBefore } from './stream-id.ts';

type Connection = Pick<RedisConnection, 'send'>;

/** Accounts in one call of the script; Redis serves nobody else meanwhile. */
const ACCOUNTS_MAX = 50;
/** An account that has more is read in parts. */
const KEYS_MAX = 1_000;
/** Few enough keys are in each when an account has all that it may have. */
const PARTS = 16;

/** Which part of a bucket's ledger stands in Redis: what comes after `floor`, up to `last`. */
export interface StreamSpan {
  readonly floor: StreamId;
  readonly last: StreamId;
}

/** What a key counts: `in_flight`, `held:<month>`, `spent:<month>`. */
export type KeyCounts = ReadonlyMap<string, number>;

export interface AuditedAccount {
  readonly id: string;
  readonly balanceMicros: number;
  readonly heldMicros: number;
  readonly keys: ReadonlyMap<string, KeyCounts>;
}

/** Some of the keys of an account. */
export interface KeyPart {
  /** From 0 on. */
  readonly part: number;
  /** If there is only one, it has all keys. */
  readonly parts: number;
}

export interface AuditedHold {
  readonly accountId: string;
  readonly keyId: string;
  readonly month: string;
  readonly heldMicros: number;
}

/** One moment of some accounts and of the ledger that they are compared with. */
export interface BucketAudit {
  readonly span: StreamSpan;
  readonly accounts: readonly AuditedAccount[];
  /** The holds of all their keys. */
  readonly holds: readonly AuditedHold[];
  /** Which of their keys were read. */
  readonly keyPart: KeyPart;
}

const ALL_KEYS: KeyPart = { part: 0, parts: 1 };

/** The same rule as in the script. */
export function isInPart(keyId: string, { part, parts }: KeyPart): boolean {
  return keyId.charCodeAt(keyId.length - 1) % parts === part;
}

const script = loadLuaScript(
  new URL('./audit.lua', import.meta.url),
  ['ledger', 'holds', 'whole'],
  ['prefix', 'account_ids', 'keys_max', 'part', 'parts'],
);

type KeyReply = string | readonly string[];
type AccountReply = readonly [id: string, balance: string, held: string, keys: readonly KeyReply[]];
type AuditReply = readonly [
  last: string,
  first: string,
  isTrimmed: number,
  accounts: readonly AccountReply[],
  holds: readonly string[],
  lookedAt: number,
];

const NO_IDS = pack([]);

/** Reads all of these accounts, a few at each moment, and a large one in parts. */
export async function* auditBucket(
  connection: Connection,
  bucket: number,
  accountIds: readonly string[],
): AsyncGenerator<BucketAudit> {
  for (let done = 0; done < accountIds.length; ) {
    const page = accountIds.slice(done, done + ACCOUNTS_MAX);
    const { lookedAt, audit } = await auditOnce(connection, bucket, page, ALL_KEYS);
    if (lookedAt > 0) {
      yield audit;
      done += lookedAt;
      continue;
    }
    for (let part = 0; part < PARTS; part++) {
      yield (await auditOnce(connection, bucket, page.slice(0, 1), { part, parts: PARTS })).audit;
    }
    done += 1;
  }
}

async function auditOnce(
  connection: Connection,
  bucket: number,
  accountIds: readonly string[],
  keyPart: KeyPart,
) {
  const { prefix, ledger, holds, whole } = keysOfBucket(bucket);
  const reply = (await script.call(
    connection,
    { ledger, holds, whole },
    { prefix, account_ids: pack(accountIds), keys_max: KEYS_MAX, ...keyPart },
  )) as AuditReply;
  const [last, first, isTrimmed, accounts, holdTexts, lookedAt] = reply;
  const audit: BucketAudit = {
    span: { floor: floorOf(last, first, isTrimmed === 1), last },
    accounts: accounts.map(decodeAccount),
    holds: holdTexts.map(decodeHold),
    keyPart,
  };
  return { lookedAt, audit };
}

export function readStreamSpan(connection: Connection, bucket: number): Promise<StreamSpan> {
  return readSpan(connection, keysOfBucket(bucket).ledger);
}

/** The span of any stream, by its Redis key. */
export async function readSpan(connection: Connection, stream: string): Promise<StreamSpan> {
  const keys = { ledger: stream, holds: stream, whole: stream };
  const reply = await script.call(connection, keys, {
    prefix: '',
    account_ids: NO_IDS,
    keys_max: 0,
    ...ALL_KEYS,
  });
  const [last, first, isTrimmed] = reply as AuditReply;
  return { floor: floorOf(last, first, isTrimmed === 1), last };
}

export async function listAccounts(connection: Connection, bucket: number): Promise<string[]> {
  const ids = await connection.send('smembers', [keysOfBucket(bucket).accounts]);
  return ids as string[];
}

function floorOf(last: StreamId, first: StreamId, isTrimmed: boolean): StreamId {
  if (!isTrimmed) return STREAM_START;
  return first === '' ? last : streamIdBefore(first);
}

function decodeAccount([id, balance, held, keys]: AccountReply): AuditedAccount {
  const counts = new Map<string, KeyCounts>();
  for (let i = 0; i + 1 < keys.length; i += 2) {
    counts.set(String(keys[i]), decodeCounts(keys[i + 1] as readonly string[]));
  }
  return { id, balanceMicros: Number(balance), heldMicros: Number(held), keys: counts };
}

function decodeCounts(fields: readonly string[]): KeyCounts {
  const counts = new Map<string, number>();
  for (let i = 0; i + 1 < fields.length; i += 2) {
    counts.set(String(fields[i]), Number(fields[i + 1]));
  }
  return counts;
}

function decodeHold(text: string): AuditedHold {
  const [accountId = '', keyId = '', month = '', , held = ''] = text.split('|');
  return { accountId, keyId, month, heldMicros: Number(held) };
}
