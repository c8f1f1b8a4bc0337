import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { EVENT_KEYS } from '../../redis/redis-keys.ts';

type Connection = Pick<RedisConnection, 'send'>;

/** How far a webhook is. */
export interface WebhookPlace {
  /** Every event up to this number is done. */
  readonly cursor: number;
  /** The events after that which are done too. */
  readonly told: ReadonlySet<number>;
  readonly seen: SeenEvent;
  /** Since when all attempts have failed, on any node. Undefined if the last one went well. */
  readonly failingSinceMs: number | undefined;
}

/** The latest event of the list that is known. If its number is 0, none is known. */
export interface SeenEvent {
  readonly number: number;
  readonly history: string;
}

/** What any node can say about a webhook. */
export interface WebhookState {
  /** How many events it has yet to receive, counting unread ones of any type. */
  readonly waiting: number;
  /** Given up after a day, or lost because the list was full. */
  readonly dropped: number;
  readonly deliveredMs: number | undefined;
  /** Undefined if the last attempt went well. */
  readonly failing: { readonly sinceMs: number; readonly reason: string } | undefined;
}

export interface WebhookStore {
  /** Returns the time by the clock of Redis; undefined if another node holds the lease. */
  hold(leaseMs: number): Promise<number | undefined>;
  release(): Promise<void>;
  /** Works for a new webhook too. */
  findPlace(name: string): Promise<WebhookPlace>;
  /** Returns false if another node holds the lease, or if the list has lost what was seen. */
  note(name: string, done: DoneEvent): Promise<boolean>;
  /** Changes nothing if another node holds the lease, since that node knows better. */
  noteDelivered(name: string, nowMs: number): Promise<void>;
  noteFailing(name: string, sinceMs: number, reason: string): Promise<void>;
}

interface DoneEvent {
  readonly number: number | undefined;
  readonly cursor: number;
  readonly dropped: number;
  readonly seen: SeenEvent;
  /** The list was read up to this number. */
  readonly readTo: number;
  /** How many events up to there the webhook has yet to receive. */
  readonly waiting: number;
}

/** In the form that the script takes. */
interface Health {
  readonly delivered_at: number | '';
  readonly failing_since: number | '';
  readonly reason: string;
}

/** After this time a webhook that left the settings is forgotten. Others are noted each hour. */
const KEEP_S = 31 * 86_400;

const holdScript = loadLuaScript(
  new URL('./hold-webhooks.lua', import.meta.url),
  ['lease'],
  ['run', 'lease_ms'],
);
const noteScript = loadLuaScript(
  new URL('./note-told.lua', import.meta.url),
  ['lease', 'webhook', 'told', 'list'],
  ['run', 'number', 'cursor', 'dropped', 'seen', 'history', 'read_to', 'waiting', 'keep_s'],
);
const noteHealthScript = loadLuaScript(
  new URL('./note-health.lua', import.meta.url),
  ['lease', 'webhook'],
  ['run', 'delivered_at', 'failing_since', 'reason'],
);
const findScript = loadLuaScript(
  new URL('./find-place.lua', import.meta.url),
  ['webhook', 'told', 'list'],
  ['keep_s'],
);

export function createWebhookStore(connection: Connection, run: string): WebhookStore {
  const { lease, list } = EVENT_KEYS;
  const keysOf = (name: string) => ({
    ...{ webhook: EVENT_KEYS.webhook(name), told: EVENT_KEYS.told(name), list },
  });
  const hold = async (leaseMs: number) => {
    const reply = await holdScript.call(connection, { lease }, { run, lease_ms: leaseMs });
    const [isHeld, nowMs] = reply as [number, number?];
    return isHeld === 1 ? nowMs : undefined;
  };
  const noteHealth = async (name: string, health: Health) => {
    const keys = { lease, webhook: EVENT_KEYS.webhook(name) };
    await noteHealthScript.call(connection, keys, { run, ...health });
  };
  return {
    hold,
    release: () =>
      hold(0).then(
        () => {},
        // The lease runs out by itself.
        () => {},
      ),
    async findPlace(name) {
      const reply = await findScript.call(connection, keysOf(name), { keep_s: KEEP_S });
      const [cursor, told, number, history, since] = reply as [
        ...[number, unknown[], number, unknown, unknown],
      ];
      const seen = { number, history: String(history) };
      const failingSinceMs = Number(since) || undefined;
      return { cursor, told: new Set(told.map(Number)), seen, failingSinceMs };
    },
    async note(name, { number, cursor, dropped, seen, readTo, waiting }) {
      const keys = { lease, ...keysOf(name) };
      const place = { number: number ?? '', cursor, dropped, read_to: readTo, waiting };
      const list = { seen: seen.number, history: seen.history };
      const args = { run, ...place, ...list, keep_s: KEEP_S };
      return (await noteScript.call(connection, keys, args)) === 1;
    },
    noteDelivered: (name, nowMs) =>
      noteHealth(name, { delivered_at: nowMs, failing_since: '', reason: '' }),
    noteFailing: (name, sinceMs, reason) =>
      noteHealth(name, { delivered_at: '', failing_since: sinceMs, reason }),
  };
}

async function readLastNumber(connection: Connection): Promise<number> {
  const args = [EVENT_KEYS.list, '+', '-', 'COUNT', '1'];
  const [last] = (await connection.send('xrevrange', args)) as [string, string[]][];
  return last === undefined ? 0 : Number.parseInt(String(last[0]), 10);
}

const FIELDS = [
  'cursor',
  'read_to',
  'waiting',
  'dropped',
  'delivered_at',
  'failing_since',
  'reason',
];

export async function readWebhookState(
  connection: Connection,
  name: string,
): Promise<WebhookState> {
  const [fields, last] = await Promise.all([
    connection.send('hmget', [EVENT_KEYS.webhook(name), ...FIELDS]),
    readLastNumber(connection),
  ]);
  const [cursor, readTo, waiting, dropped, delivered, since, reason] = (
    fields as (string | null)[]
  ).map((text) => text ?? '');
  const unread = cursor === '' ? 0 : Math.max(0, last - Number(readTo || cursor));
  return {
    waiting: Number(waiting) + unread,
    dropped: Number(dropped),
    deliveredMs: delivered ? Number(delivered) : undefined,
    failing: since ? { sinceMs: Number(since), reason: reason ?? '' } : undefined,
  };
}
