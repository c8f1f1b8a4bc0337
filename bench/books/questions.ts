import type { QuestionContext } from '../../src/books/questions/question.ts';
import { findReceipt } from '../../src/books/questions/receipts/find-receipt.ts';
import { listRequests } from '../../src/books/questions/requests/list-requests.ts';
import type { RequestFilter } from '../../src/books/questions/requests/request-filter.ts';
import { readStatement } from '../../src/books/questions/statements/statement.ts';
import { sumUsage } from '../../src/books/questions/usage/sum-usage.ts';
import type { UsageQuery } from '../../src/books/questions/usage/usage-query.ts';
import type { Sample } from './make-entries.ts';

const DAY_MS = 86_400_000;
const PAGE = 50;
const SERVER_ERRORS = { min: 500, max: 599 };
/** Few requests cost as much, or take as long. */
const DEAR = { min: 30_000 };
const SLOW = { min: 9_900 };

export interface TimedQuestion {
  readonly name: string;
  ask(context: QuestionContext, sample: Sample): Promise<unknown>;
}

/** All are about the time from the first entry to the last. */
export function listQuestions(startMs: number, days: number): readonly TimedQuestion[] {
  const span = { fromMs: startMs, toMs: startMs + days * DAY_MS };
  const page = { ...span, limit: PAGE };
  // Most of the days are in the month of the day in the middle.
  const middleMs = startMs + (days / 2) * DAY_MS;
  const month = new Date(middleMs).toISOString().slice(0, 'yyyy-mm'.length);
  const { signal } = new AbortController();
  const requests = (name: string, filterOf: (sample: Sample) => RequestFilter): TimedQuestion => ({
    name,
    ask: (context, sample) => listRequests(context, { ...page, ...filterOf(sample) }, signal),
  });
  const usage = (name: string, queryOf: (sample: Sample) => UsageQuery): TimedQuestion => ({
    name,
    ask: (context, sample) => sumUsage(context, { ...span, ...queryOf(sample) }, signal),
  });
  return [
    { name: 'receipt', ask: (context, { request }) => findReceipt(context, request, signal) },
    requests('the newest 50 requests', () => ({})),
    requests('of an account', ({ account }) => ({ account })),
    requests('of a key and a model', ({ key, model }) => ({ key, model })),
    requests('that failed', () => ({ status: SERVER_ERRORS })),
    requests('that failed, of an account', ({ account }) => ({ account, status: SERVER_ERRORS })),
    requests('that cost much', () => ({ chargedMicros: DEAR })),
    requests('that took long', () => ({ durationMs: SLOW })),
    requests('that no index finds', () => ({ upstream: 'none' })),
    usage('usage of an account by day', ({ account }) => ({ account, by: ['day'] })),
    usage('of a key by day', ({ account, key }) => ({ account, key, by: ['day'] })),
    usage('of an account by key and model', ({ account }) => ({ account, by: ['key', 'model'] })),
    usage('of all by model and day', () => ({ by: ['day', 'model'] })),
    usage('of all by hour', () => ({ by: ['hour'] })),
    {
      name: 'statement of an account',
      ask: (context, { account }) => readStatement(context, { account, month }, signal),
    },
    usage('ten top accounts', () => ({ by: ['account'], order: 'charged', limit: 10 })),
    usage('ten top keys', () => ({ by: ['key'], order: 'charged', limit: 10 })),
  ];
}
