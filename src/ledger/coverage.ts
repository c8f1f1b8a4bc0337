import {
  compareStreamIds,
  earlierStreamId,
  laterStreamId,
  STREAM_START,
  type StreamId,
} from './stream-id.ts';

/** What comes after the first id, up to the second. */
export interface Span {
  readonly after: StreamId;
  readonly until: StreamId;
}

/** Which parts of a bucket's ledger the sources claim to have. */
export interface Coverage {
  /** Spans of the same source that continue one another count as one. */
  add(source: string, span: Span): void;
  /** How many sources, or readings of one source, had to come by this place. */
  countAt(id: StreamId): number;
  /** What nobody has, up to `last`. */
  findGaps(last: StreamId): Span[];
}

/** One bucket's. It grows with restarts and failovers, not with the number of segments. */
export function createCoverage(): Coverage {
  const spans: { after: StreamId; until: StreamId }[] = [];
  const lastOfSource = new Map<string, { after: StreamId; until: StreamId }>();
  return {
    add(source, { after, until }) {
      if (compareStreamIds(after, until) >= 0) return;
      const last = lastOfSource.get(source);
      if (last?.until === after) {
        last.until = until;
        return;
      }
      const span = { after, until };
      spans.push(span);
      lastOfSource.set(source, span);
    },
    countAt: (id) =>
      spans.filter(
        ({ after, until }) => compareStreamIds(after, id) < 0 && compareStreamIds(id, until) <= 0,
      ).length,
    findGaps(last) {
      const gaps: Span[] = [];
      let reached = STREAM_START;
      for (const { after, until } of spans.toSorted((a, b) => compareStreamIds(a.after, b.after))) {
        const end = earlierStreamId(after, last);
        if (compareStreamIds(reached, end) < 0) gaps.push({ after: reached, until: end });
        reached = laterStreamId(reached, until);
      }
      if (compareStreamIds(reached, last) < 0) gaps.push({ after: reached, until: last });
      return gaps;
    },
  };
}
