import type { z } from 'zod';
import type * as books from '../../ops/schemas/books-schemas.ts';
import type * as usage from '../../ops/schemas/usage-schemas.ts';

/** Up to when the books were, and when that was said. */
export interface BooksTime {
  /** Null before their first entry. */
  readonly until: string | null;
  /** When the node answered, by its own clock. */
  readonly answeredMs: number;
  /** When the answer came, by the clock of this browser. */
  readonly readMs: number;
}

type WithTime<Answer> = Answer & { readonly booksTime: BooksTime };

/** What the admin API reports from the books: the types of the schemas that describe it. */
export type RequestList = WithTime<z.infer<typeof books.requestsAnswer>>;
export type ListedRequest = RequestList['data'][number];
export type RefusalsReport = WithTime<z.infer<typeof books.refusalsAnswer>>;
export type UsageReport = WithTime<z.infer<typeof usage.usageAnswer>>;
export type UsageRow = UsageReport['data'][number];
export type Statement = WithTime<z.infer<typeof usage.statementAnswer>>;
export type StatementPayment = Statement['payments'][number];
