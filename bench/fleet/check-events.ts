import type { Report } from '../../test/proof/checks/violations.ts';
import type { Book } from '../../test/proof/support/book.ts';
import type { Admitted, ProofEvent } from '../../test/proof/support/event-log.ts';
import type { RequestPlans } from '../../test/support/limits/request-plans.ts';
import { type FleetAccount, WINDOW_MS } from './fleet-world.ts';

interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

interface CheckOptions {
  readonly world: readonly FleetAccount[];
  readonly plans: RequestPlans;
  /** When one master was killed, until another one had taken over. */
  readonly failover: Span | undefined;
  /** The buckets of that master. */
  readonly doomedBuckets: ReadonlySet<number>;
  readonly book: Book;
  readonly payments: ReadonlyMap<string, number>;
  readonly report: Report;
}

export interface EventFigures {
  readonly admitted: number;
  readonly settled: number;
  readonly entries: number;
  readonly chargedMicros: number;
  /** What the balance or the cap did not cover any more. */
  readonly shortMicros: number;
  /** Limits that were reached in some window. */
  readonly fullLimits: number;
  /** Windows over their limit in which a master died: it had counted what its replica did not know. */
  readonly windowsLost: number;
}

/** Compares what clients asked and saw with the ledger, and counts each window anew. */
export function checkFleetEvents(
  events: readonly ProofEvent[],
  options: CheckOptions,
): EventFigures {
  const { book, report } = options;
  const admitted = new Map<string, Admitted>();
  const actual = new Map<string, number>();
  for (const event of events) {
    if (event.type === 'admitted') admitted.set(event.requestId, event);
    else if (event.type === 'settling') actual.set(event.requestId, event.actual);
  }
  const sums = sumCharges(actual, options);
  for (const [requestId, entries] of book.requests) {
    if (actual.has(requestId)) continue;
    // The answer to an admission may have been lost. Then it costs nothing.
    if (entries.some(({ charged }) => charged !== 0)) {
      report('charged', `nobody asked: ${JSON.stringify(entries)}`);
    }
  }
  for (const [id, micros] of options.payments) {
    const entered = -(book.payments.get(id)?.charged ?? 0);
    if (entered !== micros) report('paid', `payment ${id}: ${entered} of ${micros}`);
  }
  return {
    ...{ admitted: admitted.size, settled: actual.size, ...sums },
    ...checkWindows([...admitted.values()], options),
  };
}

/** Every settlement is in the ledger with all of its cost. */
function sumCharges(
  actual: ReadonlyMap<string, number>,
  { book, report }: Pick<CheckOptions, 'book' | 'report'>,
) {
  const sums = { entries: 0, chargedMicros: 0, shortMicros: 0 };
  for (const [requestId, micros] of actual) {
    const entries = book.requests.get(requestId) ?? [];
    const charged = entries.reduce((sum, entry) => sum + entry.charged, 0);
    const last = entries.at(-1);
    if (last === undefined) report('lost', `${requestId} is not in the ledger`);
    else if (charged + last.short !== micros) {
      report('charged', `${micros} for ${JSON.stringify(entries)}`);
    }
    sums.entries += entries.length;
    sums.chargedMicros += charged;
    sums.shortMicros += last?.short ?? 0;
  }
  return sums;
}

function checkWindows(admitted: readonly Admitted[], options: CheckOptions) {
  const { world, plans, failover, doomedBuckets, report } = options;
  const byKey = new Map<string, Admitted[]>();
  for (const event of admitted) {
    const known = byKey.get(event.keyId);
    if (known === undefined) byKey.set(event.keyId, [event]);
    else known.push(event);
  }
  let fullLimits = 0;
  let windowsLost = 0;
  const check = (name: string, limit: number, keyIds: readonly string[], isDoomed: boolean) => {
    if (limit === 0) return;
    const all = keyIds.flatMap((keyId) => byKey.get(keyId) ?? []);
    const { most, over } = countWindows(all, limit);
    if (most >= limit) fullLimits += 1;
    for (const { count, endMs } of over) {
      const hadFailover =
        isDoomed &&
        failover !== undefined &&
        endMs >= failover.fromMs &&
        endMs - WINDOW_MS <= failover.untilMs;
      if (hadFailover) windowsLost += 1;
      else report('rate', `${name} admitted ${count} of ${limit} in one window`);
    }
  };
  for (const { accountId, bucket, plan, keys } of world) {
    const isDoomed = doomedBuckets.has(bucket);
    const keyIds = keys.map(({ keyId }) => keyId);
    check(accountId, plans[plan as keyof RequestPlans], keyIds, isDoomed);
    for (const { keyId, rpm } of keys) check(keyId, rpm, [keyId], isDoomed);
  }
  return { fullLimits, windowsLost };
}

/**
 * A request was admitted between its sending and the time that its answer names: of two attempts
 * the first may have counted. A window has those that were surely in it.
 */
function countWindows(admitted: readonly Admitted[], limit: number) {
  const inOrder = [...admitted].sort((a, b) => a.nowMs - b.nowMs);
  const over: { readonly count: number; readonly endMs: number }[] = [];
  let first = 0;
  let most = 0;
  for (const [index, { nowMs: endMs }] of inOrder.entries()) {
    while ((inOrder[first]?.nowMs ?? endMs) <= endMs - WINDOW_MS) first += 1;
    const inside = inOrder.slice(first, index + 1);
    const count = inside.filter(({ askedMs }) => askedMs > endMs - WINDOW_MS).length;
    most = Math.max(most, count);
    if (count > limit) over.push({ count, endMs });
  }
  return { most, over };
}
