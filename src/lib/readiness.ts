/**
 * Which requests can be served: all, only those that are insured against an outage of the store, or
 * none.
 */
export type Readiness = 'ok' | 'insured' | 'unavailable';

const WORST_FIRST: readonly Readiness[] = ['unavailable', 'insured', 'ok'];
/** Retries bridge shorter outages. Taking every node out of the balancer would make those worse. */
const STORE_OUT_MAX_MS = 5_000;

interface StoreWatch {
  outForMs(): number;
  /** Before the store has answered once, nobody knows whether it ever will. */
  wasSeen(): boolean;
}

export function judgeReadiness(store: StoreWatch, canInsure: boolean): Readiness {
  if (store.wasSeen() && store.outForMs() <= STORE_OUT_MAX_MS) return 'ok';
  return canInsure ? 'insured' : 'unavailable';
}

/** For parts that requests are spread over by chance. */
export function findWorstReadiness(parts: readonly Readiness[]): Readiness {
  return WORST_FIRST.find((readiness) => parts.includes(readiness)) ?? 'unavailable';
}
