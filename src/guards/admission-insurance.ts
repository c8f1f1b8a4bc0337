import { createBoundedCache } from '../lib/collections/bounded-cache.ts';
import type { Clock } from '../lib/time/clock.ts';
import { createMinuteLimiter } from './minute-limiter.ts';

const REMEMBERED_MS = 60_000;
const REMEMBERED_MAX = 10_000;

export interface AdmissionInsurance<Admission> {
  noteAdmitted(keyDigest: string, model: string, admission: Admission): void;
  /**
   * What is known about a key that may use this model without Redis; `undefined` refuses it. A
   * model that is refused because the key never used it does not count in the key's minute.
   */
  insure(keyDigest: string, model: string): Promise<Admission | undefined>;
  /** Whether any key may still be admitted. */
  canInsure(): boolean;
}

/**
 * The grace that an operator may give while Redis is out. If a key was admitted for a model a
 * moment ago, each worker admits it a bounded number of times more, with what was known about it
 * then. Only what Redis has admitted is ever noted, so the grace ends by itself.
 */
export function createAdmissionInsurance<Admission>({
  perMinuteMax,
  clock,
}: {
  readonly perMinuteMax: number;
  readonly clock: Clock;
}): AdmissionInsurance<Admission> {
  const admitted = createBoundedCache<Admission>({
    clock,
    keepMs: REMEMBERED_MS,
    entriesMax: REMEMBERED_MAX,
  });
  const limiter = createMinuteLimiter({ perMinuteMax });
  let lastAdmittedMs = Number.NEGATIVE_INFINITY;
  return {
    noteAdmitted(keyDigest, model, admission) {
      admitted.set(`${keyDigest} ${model}`, admission);
      lastAdmittedMs = clock.nowMs();
    },
    canInsure: () => clock.nowMs() - lastAdmittedMs < REMEMBERED_MS,
    async insure(keyDigest, model) {
      const admission = admitted.get(`${keyDigest} ${model}`);
      if (admission === undefined) return undefined;
      return (await limiter.take(keyDigest)) > 0 ? undefined : admission;
    },
  };
}
