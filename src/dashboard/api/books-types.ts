import type { z } from 'zod';
import type * as books from '../../ops/schemas/books-schemas.ts';
import type * as usage from '../../ops/schemas/usage-schemas.ts';

/** What the admin API tells from the books: the types of the schemas that describe it. */
export type RequestList = z.infer<typeof books.requestsAnswer>;
export type ListedRequest = RequestList['data'][number];
export type RefusalsReport = z.infer<typeof books.refusalsAnswer>;
export type UsageReport = z.infer<typeof usage.usageAnswer>;
export type UsageRow = UsageReport['data'][number];
export type Statement = z.infer<typeof usage.statementAnswer>;
export type StatementPayment = Statement['payments'][number];
