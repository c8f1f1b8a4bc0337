import type { ProofEvent } from './event-log.ts';

type CountByKind = Readonly<Record<string, number>>;

/** A summary for people of what the clients did. */
export interface Counts {
  readonly admitted: number;
  /** Outcomes by name. For a rate limit, the name tells whose limit it was. */
  readonly refused: CountByKind;
  readonly renewed: CountByKind;
  readonly settled: CountByKind;
  /** Calls without a reply. */
  readonly failed: number;
}

export function countEvents(events: readonly ProofEvent[]): Counts {
  let admitted = 0;
  let failed = 0;
  const refused: Record<string, number> = {};
  const renewed: Record<string, number> = {};
  const settled: Record<string, number> = {};
  const count = (counts: Record<string, number>, kind: string) => {
    counts[kind] = (counts[kind] ?? 0) + 1;
  };
  for (const event of events) {
    if (event.type === 'admitted') admitted += 1;
    else if (event.type === 'failed') failed += 1;
    else if (event.type === 'renewed') count(renewed, event.reply);
    else if (event.type === 'settled') count(settled, event.reply.kind);
    else if (event.type === 'refused') {
      count(refused, 'scope' in event ? `${event.kind} of ${event.scope}` : event.kind);
    }
  }
  return { admitted, refused, renewed, settled, failed };
}
