import type { Receipt } from '../../api/api-types.ts';

export type RequestTimes = NonNullable<Receipt['times']>;

export interface Phase {
  readonly name: string;
  /** Milliseconds since the request's head. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** The phases follow each other without a gap, up to the end of the request. */
export function listPhases(times: RequestTimes): readonly Phase[] {
  const { body_ms: bodyMs, admitted_ms: admittedMs, first_event_ms: firstMs } = times;
  const start = [
    { name: 'Body', fromMs: 0, toMs: bodyMs },
    { name: 'Admission', fromMs: bodyMs, toMs: admittedMs },
  ];
  const end = { toMs: times.total_ms };
  return firstMs === null
    ? [...start, { name: 'No event of an upstream', fromMs: admittedMs, ...end }]
    : [
        ...start,
        { name: 'Until the first event', fromMs: admittedMs, toMs: firstMs },
        { name: 'Until the end', fromMs: firstMs, ...end },
      ];
}
