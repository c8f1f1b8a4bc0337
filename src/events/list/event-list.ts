import type { LimitEventType } from '../../limits/limit-event-types.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { EVENT_KEYS } from '../../redis/redis-keys.ts';
import { decodeEvent, type LimitEvent } from '../limit-event.ts';

type Connection = Pick<RedisConnection, 'send'>;
/** Ids and fields of a stream. */
type Entries = readonly (readonly [string, readonly string[]])[];

/** Numbers are given without gaps. */
export interface ListEntry {
  readonly number: number;
  /** Undefined if this version cannot read it. */
  readonly event: LimitEvent | undefined;
  /** Two lists that have the same one at a number are the same up to there. */
  readonly history: string;
}

export interface ListedEvent extends ListEntry {
  readonly event: LimitEvent;
}

/** An event as its bucket had it. */
export interface RawEvent {
  readonly text: string;
  readonly event: LimitEvent;
}

export interface EventsQuery {
  readonly accountId?: string | undefined;
  readonly type?: LimitEventType | undefined;
  /** Only events with a lower number. */
  readonly before?: number | undefined;
  readonly limit: number;
}

export interface ListedEvents {
  readonly events: readonly ListedEvent[];
  /** The value of `before` for the next page; undefined on the last one. */
  readonly next: number | undefined;
}

/** In one reply. */
const PAGE_MAX = 500;

const script = loadLuaScript(
  new URL('./add-events.lua', import.meta.url),
  ['list', 'known'],
  [],
  ['id', 'text'],
);

/** Returns the events that the list did not have. Takes at most a page of them. */
export async function addEvents(
  connection: Connection,
  events: readonly RawEvent[],
): Promise<Omit<ListedEvent, 'history'>[]> {
  const each = events.map(({ text, event }) => ({ id: event.id, text }));
  const [first, ...further] = each;
  if (first === undefined) return [];
  const { list, known } = EVENT_KEYS;
  const numbers = (await script.call(connection, { list, known }, first, further)) as number[];
  return events.flatMap(({ event }, i) => {
    const number = numbers[i] ?? 0;
    return number === 0 ? [] : [{ number, event }];
  });
}

/** The next entries from this number on, in their order. */
export async function readEntriesFrom(
  connection: Connection,
  number: number,
  count: number,
): Promise<ListEntry[]> {
  const args = [EVENT_KEYS.list, `${number}-0`, '+', 'COUNT', String(count)];
  return decodeEntries((await connection.send('xrange', args)) as Entries);
}

/** The newest first. */
export async function listEvents(
  connection: Connection,
  { accountId, type, before, limit }: EventsQuery,
): Promise<ListedEvents> {
  const isAsked = (entry: ListEntry): entry is ListedEvent =>
    entry.event !== undefined &&
    (accountId === undefined || entry.event.accountId === accountId) &&
    (type === undefined || entry.event.type === type);
  const found: ListedEvent[] = [];
  let end = before === undefined ? '+' : `(${before}-0`;
  for (;;) {
    const args = [EVENT_KEYS.list, end, '-', 'COUNT', String(PAGE_MAX)];
    const entries = (await connection.send('xrevrange', args)) as Entries;
    // Most events are of other accounts, and searching a text is cheaper than reading an event.
    const near = accountId === undefined ? entries : entries.filter(hasText(accountId));
    for (const listed of decodeEntries(near).filter(isAsked)) {
      // One more shows whether there is another page.
      if (found.length === limit) return { events: found, next: found.at(-1)?.number };
      found.push(listed);
    }
    const last = entries.at(-1);
    if (last === undefined) return { events: found, next: undefined };
    end = `(${last[0]}`;
  }
}

function hasText(text: string) {
  return ([, fields]: Entries[number]) => String(fields[1]).includes(text);
}

function decodeEntries(entries: Entries): ListEntry[] {
  return entries.map(([id, [, text, , history = text]]) => ({
    number: Number.parseInt(String(id), 10),
    event: decodeEvent(String(text)),
    history: String(history),
  }));
}
