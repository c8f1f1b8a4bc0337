import { readBooksId, readBooksProgress } from '../../books/stream/books-lease.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { type Finding, failCheck, passCheck, skipCheck, warnCheck } from '../finding.ts';

const LAG_MS_WARN = 120_000;
const LAG_MAX_MS = 600_000;
const NO_REDIS = skipCheck('Redis does not answer');

/** What Redis remembers of the books. */
export interface BooksMemory {
  /** The books that all entries go to; undefined before a node has filled any. */
  readonly booksId: string | undefined;
  /** The node that fills them. */
  readonly nodeId: string | undefined;
  /** Every older entry is in the books. */
  readonly untilMs: number | undefined;
  /** The clock of Redis. */
  readonly nowMs: number;
}

export async function readBooksMemory(send: RedisConnection['send']): Promise<BooksMemory> {
  const [booksId, progress, time] = await Promise.all([
    readBooksId({ send }),
    readBooksProgress({ send }),
    send('time', []),
  ]);
  const [seconds, micros] = (Array.isArray(time) ? time : []).map(Number);
  return {
    booksId,
    nodeId: progress?.nodeId,
    untilMs: progress?.untilMs,
    nowMs: (seconds ?? 0) * 1_000 + (micros ?? 0) / 1_000,
  };
}

export function judgeIdentity(ownId: string | undefined, memory: BooksMemory | undefined): Finding {
  if (memory === undefined) return NO_REDIS;
  const { booksId } = memory;
  if (booksId === undefined) return skipCheck('no node has filled any books yet');
  if (booksId === ownId) return passCheck(`they are the ones that Redis remembers, ${ownId}`);
  const found = ownId === undefined ? 'there are none' : `these are ${ownId}`;
  return failCheck(
    `entries go to the books ${booksId}, and ${found}`,
    'Give all nodes the same books.url. If the other books are lost, run tollgate books claim --empty.',
  );
}

export function judgeLag(memory: BooksMemory | undefined): Finding {
  if (memory === undefined) return NO_REDIS;
  const { nodeId, untilMs, nowMs } = memory;
  if (untilMs === undefined) return skipCheck('no node has filled any books yet');
  const lagMs = Math.max(0, nowMs - untilMs);
  const found = `${(lagMs / 1_000).toFixed(0)} s behind`;
  if (nodeId === undefined) {
    return warnCheck(
      `no node fills the books, which are ${found}`,
      'Start a node; if one runs, its log says why it does not.',
    );
  }
  const advice = `See the log of the node ${nodeId}, and check the server of the books.`;
  if (lagMs > LAG_MAX_MS) return failCheck(found, advice);
  return lagMs > LAG_MS_WARN ? warnCheck(found, advice) : passCheck(found);
}
