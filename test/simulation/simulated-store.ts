import type { SettleReply } from '../../src/quota/scripts/settle.ts';
import type { Settlement } from '../../src/quota/settlement/settlement.ts';
import type { SimulatedTime } from './simulated-time.ts';

export const LEASE_MS = 60_000;
const MARK_LIFE_MS = 7_200_000;
const AGE_MAX_MS = 6_900_000;

export interface LedgerLine {
  readonly kind: string;
  readonly requestId: string;
  readonly charged: number;
}

/** What the scripts of the store do to a request, in the words of `settle.lua` and `sweep.lua`. */
interface State {
  readonly holds: Map<string, { readonly seen: number; readonly dueMs: number }>;
  readonly marks: Map<string, { charged: number; isSwept: boolean; readonly atMs: number }>;
  readonly ledger: LedgerLine[];
}

type Change = (state: State) => void;

/**
 * A model of Redis: it answers late, loses replies and whole calls, is away, and after a failover
 * lacks the last changes. What scripts do to one request follows their headers.
 */
export interface SimulatedStore {
  isAway: boolean;
  /** The share of calls of which something is lost: the call or its reply. */
  lostShare: number;
  /** Changes with each failover and each restart. */
  masterId: number;
  /** `seenMicros` is what a sweep charges: what the request has cost when it was last renewed. */
  hold(requestId: string, seenMicros: number): void;
  settle(run: readonly Settlement[]): Promise<SettleReply[]>;
  sweep(): void;
  /** Another server takes over. It lacks the changes of the last moments. */
  failOver(lagMaxMs: number): void;
  /** Requests of which a failover has undone something. */
  readonly undone: ReadonlySet<string>;
  ledger(): readonly LedgerLine[];
  openHolds(): number;
  chargedOf(requestId: string): number | undefined;
}

export function createSimulatedStore(time: SimulatedTime): SimulatedStore {
  const { random } = time;
  let state = createState();
  let changes: { readonly atMs: number; readonly requestId: string; readonly change: Change }[] =
    [];
  const undone = new Set<string>();

  const apply = (requestId: string, change: Change) => {
    change(state);
    changes.push({ atMs: time.nowMs(), requestId, change });
  };

  const settleOne = (settlement: Settlement): SettleReply => {
    const { requestId, actualMicros, firstTriedMs } = settlement;
    const nowMs = time.nowMs();
    const hold = state.holds.get(requestId);
    const mark = findMark(state, requestId, nowMs);
    let kind: 'charge' | 'late' | 'orphan' = 'charge';
    let already = 0;
    if (hold === undefined && mark !== undefined) {
      if (!mark.isSwept) return { kind: 'repeated', chargedMicros: mark.charged };
      kind = 'late';
      already = mark.charged;
    } else if (hold === undefined) {
      if (nowMs - firstTriedMs > AGE_MAX_MS) return { kind: 'too_old' };
      kind = 'orphan';
    }
    const charged = actualMicros - already;
    apply(requestId, (changed) => {
      changed.holds.delete(requestId);
      changed.marks.set(requestId, { charged: actualMicros, isSwept: false, atMs: nowMs });
      changed.ledger.push({ kind, requestId, charged });
    });
    return { kind, chargedMicros: charged, shortMicros: 0, balanceMicros: 0 };
  };

  const store: SimulatedStore = {
    isAway: false,
    lostShare: 0,
    masterId: 1,
    undone,
    hold(requestId, seen) {
      const dueMs = time.nowMs() + LEASE_MS;
      apply(requestId, ({ holds }) => holds.set(requestId, { seen, dueMs }));
    },
    async settle(run) {
      await time.wait(random.next() * 4);
      if (store.isAway) return lose(time);
      if (random.chance(store.lostShare / 2)) return lose(time);
      const replies = run.map(settleOne);
      if (random.chance(store.lostShare / 2)) return lose(time);
      await time.wait(random.next() * 4);
      return replies;
    },
    sweep() {
      const nowMs = time.nowMs();
      for (const [requestId, { seen, dueMs }] of [...state.holds]) {
        if (dueMs > nowMs) continue;
        apply(requestId, (changed) => {
          changed.holds.delete(requestId);
          changed.marks.set(requestId, { charged: seen, isSwept: true, atMs: nowMs });
          changed.ledger.push({ kind: 'expired', requestId, charged: seen });
        });
      }
    },
    failOver(lagMaxMs) {
      const sinceMs = time.nowMs() - random.next() * lagMaxMs;
      const kept = changes.filter(({ atMs }) => atMs <= sinceMs);
      for (const { requestId } of changes.slice(kept.length)) undone.add(requestId);
      changes = kept;
      state = createState();
      for (const { change } of changes) change(state);
      store.masterId++;
    },
    ledger: () => state.ledger,
    openHolds: () => state.holds.size,
    chargedOf: (requestId) => findMark(state, requestId, time.nowMs())?.charged,
  };
  return store;
}

function createState(): State {
  return { holds: new Map(), marks: new Map(), ledger: [] };
}

function findMark({ marks }: State, requestId: string, nowMs: number) {
  const mark = marks.get(requestId);
  return mark !== undefined && nowMs - mark.atMs <= MARK_LIFE_MS ? mark : undefined;
}

/** Some connections tell at once that they are closed; others say nothing until the time is up. */
async function lose(time: SimulatedTime): Promise<never> {
  const COMMAND_TIMEOUT_MS = 1_000;
  const isSilent = time.random.chance(0.5);
  await time.wait(isSilent ? COMMAND_TIMEOUT_MS : 1);
  throw new Error(isSilent ? 'Command timed out' : 'Connection is closed.');
}
