import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { BOOKS_KEYS } from '../../redis/redis-keys.ts';

type Connection = Pick<RedisConnection, 'send'>;

/** How far the books are, as their writer knows it. */
export interface Progress {
  readonly untilMs: number | undefined;
  readonly waitingEntries: number | undefined;
}

interface LeaseOrder extends Progress {
  /** Begins with the id of the node, and a space. */
  readonly run: string;
  readonly leaseMs: number;
  readonly booksId: string;
}

export interface LeaseReply {
  readonly state: 'held' | 'other_node' | 'other_books';
  /** The clock of Redis. */
  readonly nowMs: number;
  /** The books that all entries go to. */
  readonly booksId: string;
}

/** What any node can say about the books. */
interface BooksProgress {
  /** Every entry that is older is in the books. */
  readonly untilMs: number;
  readonly waitingEntries: number;
  /** The node that writes them; undefined while none does. */
  readonly nodeId: string | undefined;
}

const holdScript = loadLuaScript(
  new URL('./hold-lease.lua', import.meta.url),
  ['lease', 'id', 'progress'],
  ['run', 'lease_ms', 'books_id', 'until_ms', 'waiting'],
);
const releaseScript = loadLuaScript(
  new URL('./release-lease.lua', import.meta.url),
  ['lease'],
  ['run'],
);

/** Takes the lease of the books or renews it, unless another run has it. */
export async function holdBooksLease(
  connection: Connection,
  { run, leaseMs, booksId, untilMs, waitingEntries }: LeaseOrder,
): Promise<LeaseReply> {
  const reply = await holdScript.call(connection, BOOKS_KEYS, {
    run,
    lease_ms: leaseMs,
    books_id: booksId,
    until_ms: untilMs ?? '',
    waiting: waitingEntries ?? '',
  });
  const [state, nowMs, known] = reply as [LeaseReply['state'], number, string];
  return { state, nowMs, booksId: known };
}

export async function releaseBooksLease(connection: Connection, run: string): Promise<void> {
  await releaseScript.call(connection, { lease: BOOKS_KEYS.lease }, { run });
}

/** Undefined before anything was read into any books. */
export async function readBooksProgress(
  connection: Connection,
): Promise<BooksProgress | undefined> {
  const [progress, holder] = await Promise.all([
    connection.send('hmget', [BOOKS_KEYS.progress, 'until', 'waiting']),
    connection.send('get', [BOOKS_KEYS.lease]),
  ]);
  const [until, waiting] = progress as (string | null)[];
  if (typeof until !== 'string') return undefined;
  return {
    untilMs: Number(until),
    waitingEntries: Number(waiting ?? 0),
    nodeId: typeof holder === 'string' ? holder.split(' ')[0] : undefined,
  };
}

/** The books that all entries go to; undefined before the first lease. */
export async function readBooksId(connection: Connection): Promise<string | undefined> {
  return ((await connection.send('get', [BOOKS_KEYS.id])) as string | null) ?? undefined;
}

/** From now on all entries go to these books; nodes that have others write nothing any more. */
export async function claimBooks(connection: Connection, booksId: string): Promise<void> {
  await connection.send('set', [BOOKS_KEYS.id, booksId]);
  await connection.send('del', [BOOKS_KEYS.progress]);
}
