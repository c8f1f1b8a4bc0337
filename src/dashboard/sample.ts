import type { SummaryData } from '../ops/schemas/event-schemas.ts';

/** What a node reported about one second, and when the report came. */
export interface Sample extends SummaryData {
  readonly atMs: number;
}
