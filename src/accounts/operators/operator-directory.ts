import { isRole, type Role } from '../../lib/role.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { type RandomBytes, randomBase62 } from '../../lib/units/base62.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { FLEET_CHANNEL, OPERATOR_KEYS } from '../../redis/redis-keys.ts';
import { DirectoryError } from '../directory-error.ts';
import { createRecentWrites, type RepeatWrites, TOO_EARLY } from '../recent-writes.ts';
import { createRecordStore, type RecordStore } from '../record-store.ts';
import { digestSecret, mintOperatorToken } from './operator-token.ts';

const OPERATORS_MAX = 1_000;
const ID_PREFIX = 'op_';
const ID_CHARS = 12;
/** The last use of a token is noted this often. */
const USE_NOTED_MS = 60_000;

const enterScript = loadLuaScript(
  new URL('./enter-operator.lua', import.meta.url),
  ['operators', 'tokens', 'revoked', 'used'],
  ['id', 'digest', 'record', 'operators_max'],
);
const revokeScript = loadLuaScript(
  new URL('./revoke-operator.lua', import.meta.url),
  ['operators', 'tokens', 'revoked'],
  ['id', 'digest', 'channel'],
);
const findScript = loadLuaScript(
  new URL('./find-operator.lua', import.meta.url),
  ['operators', 'tokens', 'revoked', 'used'],
  ['digest'],
);

/** Somebody with a token of their own. */
export interface OperatorRecord {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly createdMs: number;
  /** Accurate to about a minute. */
  readonly usedMs: number | undefined;
  readonly revokedMs: number | undefined;
}

export interface OperatorDirectory {
  /** The text of the token is not kept anywhere. */
  createOperator(
    details: Pick<OperatorRecord, 'name' | 'role'>,
  ): Promise<{ readonly operator: OperatorRecord; readonly token: string }>;
  /** All of them, the oldest first. */
  listOperators(): Promise<readonly OperatorRecord[]>;
  /** Revokes a token for good. One that is already revoked stays revoked. */
  revokeOperator(
    id: string,
  ): Promise<{ readonly before: OperatorRecord; readonly after: OperatorRecord }>;
  /** Undefined if nobody has this token, or if it was revoked. Notes that it was used. */
  findOperator(token: string): Promise<OperatorRecord | undefined>;
  /** Called after a change of masters, which may have lost the last writes. Safe at any time. */
  replayRecentWrites: RepeatWrites;
}

interface OperatorDirectoryOptions {
  readonly connection: Pick<RedisConnection, 'send'>;
  readonly randomBytes: RandomBytes;
  readonly clock: Clock;
  /**
   * The clock for what a failover may lose. Defaults to `clock`, for where nobody watches the
   * masters.
   */
  readonly masterClock?: Clock;
}

/** The record as Redis has it. */
interface StoredOperator {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly digest: string;
  readonly created_ms: number;
}

export function createOperatorDirectory(options: OperatorDirectoryOptions): OperatorDirectory {
  const { connection, randomBytes, clock } = options;
  const { operators, tokens, revoked, used } = OPERATOR_KEYS;
  const store = createRecordStore(connection);
  const recent = createRecentWrites(options.masterClock ?? clock);

  const readTimes = (key: string, ids: readonly string[]) =>
    store.read(() => connection.send('hmget', [key, ...ids])) as Promise<(string | null)[]>;

  /** Undefined if there is no such operator. */
  const revoke = async (id: string, digest: string): Promise<number | undefined> => {
    const args = { id, digest, channel: FLEET_CHANNEL };
    const ask = () => revokeScript.call(connection, { operators, tokens, revoked }, args);
    return ((await store.ask(ask)) as number) || undefined;
  };

  return {
    async createOperator({ name, role }) {
      const id = ID_PREFIX + randomBase62(ID_CHARS, randomBytes);
      const token = mintOperatorToken(randomBytes);
      const digest = digestSecret(token);
      const createdMs = clock.nowMs();
      const record: StoredOperator = { id, name, role, digest, created_ms: createdMs };
      const args = { id, digest, record: JSON.stringify(record), operators_max: OPERATORS_MAX };
      const enter = async () =>
        (await enterScript.call(connection, OPERATOR_HASHES, args)) as [string];
      const [outcome] = await store.ask(enter);
      if (outcome === 'full') throw refuseFull();
      recent.add(() => store.ask(enter));
      return { operator: decode(record, undefined, undefined), token };
    },
    async listOperators() {
      const texts = (await store.read(() => connection.send('hvals', [operators]))) as string[];
      if (texts.length === 0) return [];
      const records = texts.map(parse);
      const ids = records.map(({ id }) => id);
      const [ends, uses] = [await readTimes(revoked, ids), await readTimes(used, ids)];
      return records
        .map((record, at) => decode(record, uses[at], ends[at]))
        .toSorted((a, b) => a.createdMs - b.createdMs || (a.id < b.id ? -1 : 1));
    },
    async revokeOperator(id) {
      const read = (key: string) =>
        store.read(() => connection.send('hget', [key, id])) as Promise<string | null>;
      const text = await read(operators);
      if (text === null) throw refuseMissingOperator(id);
      const stored = parse(text);
      const [usedText, revokedText] = [await read(used), await read(revoked)];
      const revokedMs = await revoke(id, stored.digest);
      if (revokedMs === undefined) throw refuseMissingOperator(id);
      recent.add(async () =>
        (await revoke(id, stored.digest)) === undefined ? TOO_EARLY : undefined,
      );
      return {
        before: decode(stored, usedText, revokedText),
        after: decode(stored, usedText, String(revokedMs)),
      };
    },
    findOperator: createFindOperator(connection, store, clock),
    replayRecentWrites: recent.repeat,
  };
}

function createFindOperator(
  connection: Pick<RedisConnection, 'send'>,
  store: RecordStore,
  clock: Clock,
): OperatorDirectory['findOperator'] {
  const noteUse = (id: string, usedText: string) => {
    const nowMs = clock.nowMs();
    if (nowMs - Number(usedText) < USE_NOTED_MS) return;
    // Nothing is lost if it fails: the next use is noted.
    connection.send('hset', [OPERATOR_KEYS.used, id, String(nowMs)]).catch(() => {});
  };

  return async (token) => {
    const digest = digestSecret(token);
    const ask = () => findScript.call(connection, OPERATOR_HASHES, { digest });
    const [id, text, usedText = ''] = (await store.read(ask)) as string[];
    if (id === undefined || text === undefined) return undefined;
    noteUse(id, usedText);
    return decode(parse(text), usedText, undefined);
  };
}

const OPERATOR_HASHES = {
  operators: OPERATOR_KEYS.operators,
  tokens: OPERATOR_KEYS.tokens,
  revoked: OPERATOR_KEYS.revoked,
  used: OPERATOR_KEYS.used,
};

function parse(text: string): StoredOperator {
  return JSON.parse(text) as StoredOperator;
}

function decode(
  { id, name, role, created_ms: createdMs }: StoredOperator,
  usedText: string | null | undefined,
  revokedText: string | null | undefined,
): OperatorRecord {
  const msIfAny = (text: string | null | undefined) => (text ? Number(text) : undefined);
  return {
    ...{ id, name, createdMs },
    // A later version may know more roles. Here they count as the least one.
    role: isRole(role) ? role : 'viewer',
    usedMs: msIfAny(usedText),
    revokedMs: msIfAny(revokedText),
  };
}

export function refuseMissingOperator(id: string): DirectoryError {
  return new DirectoryError('operator_not_found', `there is no operator ${id}`);
}

function refuseFull(): DirectoryError {
  return new DirectoryError(
    'too_many_operators',
    `there are ${OPERATORS_MAX} operators; revoke one that is not needed`,
  );
}
