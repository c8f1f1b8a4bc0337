import {
  compareStreamIds,
  earlierStreamId,
  laterStreamId,
  STREAM_START,
  type StreamId,
} from '../stream/stream-id.ts';

/** What comes after the first id, up to the second. */
export interface Stretch {
  readonly after: StreamId;
  readonly until: StreamId;
}

/** What a source, such as a folder of segments, claims to have. */
export interface SourceStretch extends Stretch {
  readonly source: string;
}

/** Which parts of a bucket's ledger the sources claim to have. */
export interface Coverage {
  /** Spans of the same source that continue one another count as one. */
  add(span: SourceStretch): void;
  spans(): readonly SourceStretch[];
  /** How many sources, or readings of one source, had to pass this place. */
  countAt(id: StreamId): number;
  /** What nobody has, up to `last`. */
  findGaps(last: StreamId): Stretch[];
}

interface GrowingStretch extends SourceStretch {
  until: StreamId;
}

/** The coverage of one bucket. It grows with restarts and failovers, not with segments. */
export function createCoverage(claimed: readonly SourceStretch[] = []): Coverage {
  const spans: GrowingStretch[] = [];
  const lastOfSource = new Map<string, GrowingStretch>();
  const add = ({ source, after, until }: SourceStretch) => {
    if (compareStreamIds(after, until) >= 0) return;
    const last = lastOfSource.get(source);
    if (last?.until === after) {
      last.until = until;
      return;
    }
    const span = { source, after, until };
    spans.push(span);
    lastOfSource.set(source, span);
  };
  for (const span of claimed) add(span);

  return {
    add,
    spans: () => spans,
    countAt: (id) =>
      spans.filter(
        ({ after, until }) => compareStreamIds(after, id) < 0 && compareStreamIds(id, until) <= 0,
      ).length,
    findGaps(last) {
      const gaps: Stretch[] = [];
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
