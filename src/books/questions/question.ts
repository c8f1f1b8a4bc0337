import type { Clock } from '../../lib/time/clock.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import type { Books } from '../engine/books.ts';
import type { RowShare } from './row-budget.ts';

/** What questions are answered from. */
export interface QuestionSource {
  readonly books: Books;
  readonly connection: Pick<RedisConnection, 'client' | 'send'>;
  readonly clock: Clock;
}

/** What one question is answered with. */
export interface QuestionContext extends QuestionSource {
  readonly share: RowShare;
}

/**
 * Answers one question. The answer goes to another thread, so it is plain data; the signal ends the
 * work when nobody waits for it any more.
 */
export type Question<Query, Answer> = (
  context: QuestionContext,
  query: Query,
  signal: AbortSignal,
) => Promise<Answer>;

/** An answer of any length, as text, a few thousand characters at a time. */
export type StreamedQuestion<Query> = (
  context: QuestionContext,
  query: Query,
  signal: AbortSignal,
) => AsyncIterable<string>;
