import type { SummaryData } from '../ops/schemas/event-schemas.ts';
import type { History } from './api/api-types.ts';

/** What was reported about a span of time: a second of the events, or a row of the history. */
export interface Sample extends Omit<SummaryData, 'node'> {
  /** When the span ended, or when the report of a second came. */
  readonly atMs: number;
  /** How long the span was. */
  readonly seconds: number;
}

const MS_PER_SECOND = 1_000;

export function toSample(summary: SummaryData, atMs: number): Sample {
  return { ...summary, atMs, seconds: 1 };
}

/** The rows of the history, the oldest first. */
export function listSamples({ seconds, data }: History): readonly Sample[] {
  return data.map(({ at, ...row }) => {
    return { ...row, seconds, atMs: Date.parse(at) + seconds * MS_PER_SECOND };
  });
}
