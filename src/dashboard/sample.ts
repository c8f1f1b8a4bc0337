import type { SummaryData } from '../ops/schemas/event-schemas.ts';

/** What a node told of one second, and when it came. */
export interface Sample extends SummaryData {
  readonly atMs: number;
}
