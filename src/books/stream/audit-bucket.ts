import { pack } from 'msgpackr';
import { keysOfBucket } from '../../quota/keys-of-bucket.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { STREAM_START, type StreamId, streamIdBefore } from './stream-id.ts';

type Connection = Pick<RedisConnection, 'send'>;

/** In one call of the script; Redis serves nobody else meanwhile. */
const ACCOUNTS_MAX = 50;
/** So many, and those of one more account. */
const KEYS_MAX = 1_000;

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
  readonly holds: readonly AuditedHold[];
}

const script = loadLuaScript(
  new URL('./audit.lua', import.meta.url),
  ['ledger', 'holds', 'whole'],
  ['prefix', 'account_ids', 'keys_max'],
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

/** Looks at all of these accounts, a few at one moment. */
export async function* auditBucket(
  connection: Connection,
  bucket: number,
  accountIds: readonly string[],
): AsyncGenerator<BucketAudit> {
  const { prefix, ledger, holds, whole } = keysOfBucket(bucket);
  for (let done = 0; done < accountIds.length; ) {
    const page = accountIds.slice(done, done + ACCOUNTS_MAX);
    const reply = (await script.call(
      connection,
      { ledger, holds, whole },
      { prefix, account_ids: pack(page), keys_max: KEYS_MAX },
    )) as AuditReply;
    const [last, first, isTrimmed, accounts, holdTexts, lookedAt] = reply;
    yield {
      span: { floor: floorOf(last, first, isTrimmed === 1), last },
      accounts: accounts.map(decodeAccount),
      holds: holdTexts.map(decodeHold),
    };
    done += lookedAt;
  }
}

export function readStreamSpan(connection: Connection, bucket: number): Promise<StreamSpan> {
  return readSpan(connection, keysOfBucket(bucket).ledger);
}

/** Of any stream, by its Redis key. */
export async function readSpan(connection: Connection, stream: string): Promise<StreamSpan> {
  const keys = { ledger: stream, holds: stream, whole: stream };
  const reply = await script.call(connection, keys, {
    prefix: '',
    account_ids: NO_IDS,
    keys_max: 0,
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
