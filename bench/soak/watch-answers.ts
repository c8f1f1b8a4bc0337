import type { Answer } from './run-client.ts';

/** Ids of requests that were answered with 200. The ledger is searched for them at the end. */
const ANSWERED_KEPT_MAX = 5_000_000;
/** Redis counts in whole milliseconds: two moments may be up to 1 ms closer than they seem. */
const CLOCK_GRAIN_MS = 1;
/** Statuses that a request gets only after its admission. */
const ADMITTED_STATUSES = [200, 502, 504, 529];

interface Span {
  readonly sentMs: number;
  readonly headMs: number;
}

export interface AnswerWatch {
  note(answer: Answer): void;
  readonly answeredIds: ReadonlySet<string>;
}

interface AnswerWatchOptions {
  readonly windowMs: number;
  readonly onBroken: (what: string) => void;
}

/**
 * Checks answers against the limits of their keys. The client does not know when a request was
 * admitted, only that it was between sending and the head of the answer. So it counts the requests
 * that certainly fall into one window, and these must not exceed the limit.
 */
export function watchAnswers({ windowMs, onBroken }: AnswerWatchOptions): AnswerWatch {
  const spansOf = new Map<string, Span[]>();
  const answeredIds = new Set<string>();

  const countAdmitted = (who: string, limit: number, span: Span) => {
    const from = span.headMs - windowMs + CLOCK_GRAIN_MS;
    const inside = (spansOf.get(who) ?? []).filter(({ sentMs }) => sentMs > from);
    inside.push(span);
    spansOf.set(who, inside);
    if (inside.length > limit) {
      onBroken(`${who}: ${inside.length} requests in a window that has room for ${limit}`);
    }
  };

  return {
    answeredIds,
    note({ key, sentMs, headMs, status, requestId }) {
      if (status === 500) onBroken(`${requestId} was answered with 500`);
      if (status === 200) {
        if (key.revokedMs !== undefined && sentMs > key.revokedMs) {
          onBroken(`key ${key.id} was served after it was revoked`);
        }
        if (answeredIds.has(requestId)) onBroken(`${requestId} was answered twice`);
        if (answeredIds.size < ANSWERED_KEPT_MAX) answeredIds.add(requestId);
      }
      if (!ADMITTED_STATUSES.includes(status)) return;
      const { id, requestsMax } = key.account;
      countAdmitted(`account ${id}`, requestsMax, { sentMs, headMs });
      if (key.rpm !== undefined) countAdmitted(`key ${key.id}`, key.rpm, { sentMs, headMs });
    },
  };
}
