import { type RandomBytes, randomBase62 } from '../../lib/units/base62.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import type { RecordStore } from '../record-store.ts';
import { digestSecret } from './operator-token.ts';

/** 256 bits. */
const COOKIE_CHARS = 43;
const COOKIE_PATTERN = /^[0-9A-Za-z]{43}$/;

const addScript = loadLuaScript(
  new URL('./add-ticket.lua', import.meta.url),
  ['tickets'],
  ['digest', 'record', 'life_ms', 'idle_ms', 'tickets_max'],
);
const readScript = loadLuaScript(
  new URL('./read-ticket.lua', import.meta.url),
  ['tickets'],
  ['digest', 'is_taken', 'idle_ms'],
);

/** A record that one browser may use, until its end. */
interface Ticket {
  readonly text: string;
  /** When it ends unless it is used before. */
  readonly idleUntilMs: number;
  /** When it ends for good. */
  readonly untilMs: number;
}

/** Redis has only digests of the cookies, so nobody who reads it can use a ticket. */
export interface Tickets {
  add(text: string): Promise<{ readonly cookie: string; readonly untilMs: number }>;
  /** Counts as a use. Undefined if there is none, or if it has ended. */
  read(cookie: string): Promise<Ticket | undefined>;
  /** Reads it and removes it. */
  take(cookie: string): Promise<Ticket | undefined>;
  /** All of them, also some that have ended. */
  list(): Promise<readonly (Ticket & { readonly digest: string })[]>;
}

interface TicketsOptions {
  readonly connection: Pick<RedisConnection, 'send'>;
  readonly store: RecordStore;
  readonly randomBytes: RandomBytes;
  /** The Redis key that holds all of them. */
  readonly tickets: string;
  readonly lifeMs: number;
  /** A ticket that is not used for this long ends too. */
  readonly idleMs: number;
  /**
   * The maximum of all nodes together. Beyond it, the ticket that would end first is forgotten.
   */
  readonly ticketsMax: number;
}

export function createTickets(options: TicketsOptions): Tickets {
  const { connection, store, randomBytes, tickets, lifeMs, idleMs, ticketsMax } = options;

  const read = async (cookie: string, isTaken: boolean) => {
    if (!COOKIE_PATTERN.test(cookie)) return undefined;
    const args = { digest: digestSecret(cookie), is_taken: isTaken ? '1' : '0', idle_ms: idleMs };
    const ask = () => readScript.call(connection, { tickets }, args);
    const [text, idleUntilMs, untilMs] = (await store.ask(ask)) as [string?, number?, number?];
    if (text === undefined) return undefined;
    return { text, idleUntilMs: Number(idleUntilMs), untilMs: Number(untilMs) };
  };

  return {
    async add(text) {
      const cookie = randomBase62(COOKIE_CHARS, randomBytes);
      const args = {
        ...{ digest: digestSecret(cookie), record: text },
        ...{ life_ms: lifeMs, idle_ms: idleMs, tickets_max: ticketsMax },
      };
      const untilMs = await store.ask(() => addScript.call(connection, { tickets }, args));
      return { cookie, untilMs: Number(untilMs) };
    },
    read: (cookie) => read(cookie, false),
    take: (cookie) => read(cookie, true),
    async list() {
      const values = (await store.read(() => connection.send('hvals', [tickets]))) as string[];
      return values.map((value) => {
        const [idleUntil, until, digest = '', ...rest] = value.split(' ');
        const ends = { idleUntilMs: Number(idleUntil), untilMs: Number(until) };
        return { digest, text: rest.join(' '), ...ends };
      });
    },
  };
}
