import type { SettleReply } from '../../src/quota/scripts/settle.ts';
import type { Settlement } from '../../src/quota/settlement/settlement.ts';
import { MARK_TIMES } from '../quota/mark-times.ts';
import type { SimulatedTime } from './simulated-time.ts';

export const LEASE_MS = 60_000;
/** Less than what an ingester reads once more: see `stream-reader.ts`. */
export const CLOCK_AHEAD_MAX_MS = 50_000;

export interface LedgerLine {
  /** As a stream numbers its entries. */
  readonly ms: number;
  readonly seq: number;
  readonly kind: string;
  readonly accountId: string;
  readonly requestId: string;
  readonly charged: number;
}

/** What the scripts of the store do to a request, in the words of `settle.lua` and `sweep.lua`. */
interface State {
  readonly holds: Map<string, Hold>;
  readonly marks: Map<string, { charged: number; isSwept: boolean; readonly atMs: number }>;
  ledger: LedgerLine[];
  /** The place of the last line ever. */
  last: Pick<LedgerLine, 'ms' | 'seq'>;
  isTrimmed: boolean;
  /** Values that end by themselves, such as leases. */
  readonly values: Map<string, { readonly value: string; readonly endMs: number }>;
}

interface Hold {
  readonly accountId: string;
  readonly seen: number;
  readonly dueMs: number;
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
  hold(request: { readonly requestId: string; accountId: string; seenMicros: number }): void;
  settle(run: readonly Settlement[]): Promise<SettleReply[]>;
  /** One call of any other kind: it is answered late, or lost, as settlements are. */
  call<Reply>(run: (data: StoreData) => Reply): Promise<Reply>;
  sweep(): void;
  /** Another server takes over. It lacks the changes of the last moments. */
  failOver(lagMaxMs: number): void;
  /** Requests of which a failover has undone something. */
  readonly undone: ReadonlySet<string>;
  ledger(): readonly LedgerLine[];
  openHolds(): number;
  chargedOf(requestId: string): number | undefined;
}

/** What one call sees and changes. */
export interface StoreData {
  readonly nowMs: number;
  readonly ledger: readonly LedgerLine[];
  readonly last: Pick<LedgerLine, 'ms' | 'seq'>;
  readonly isTrimmed: boolean;
  /** Removes what comes before this place. */
  trim(ms: number, seq: number): void;
  get(name: string): string | undefined;
  set(name: string, value: string | undefined, lifeMs?: number): void;
}

export function createSimulatedStore(time: SimulatedTime): SimulatedStore {
  const { random } = time;
  let state = createState();
  let changes: { readonly atMs: number; readonly requestId: string; readonly change: Change }[] =
    [];
  const undone = new Set<string>();
  /** The clocks of two servers differ. */
  let clockAheadMs = 0;

  const apply = (requestId: string, change: Change) => {
    change(state);
    changes.push({ atMs: time.nowMs(), requestId, change });
  };

  const enter = (changed: State, line: Omit<LedgerLine, 'ms' | 'seq'>, nowMs: number) => {
    const { ms, seq } = changed.last;
    changed.last = nowMs > ms ? { ms: nowMs, seq: 0 } : { ms, seq: seq + 1 };
    changed.ledger.push({ ...changed.last, ...line });
  };

  const dataOf = (): StoreData => ({
    nowMs: Math.floor(time.nowMs() + clockAheadMs),
    ledger: state.ledger,
    last: state.last,
    isTrimmed: state.isTrimmed,
    trim: (ms, seq) =>
      apply('', (changed) => {
        const kept = changed.ledger.filter(
          (line) => line.ms > ms || (line.ms === ms && line.seq >= seq),
        );
        changed.isTrimmed ||= kept.length < changed.ledger.length;
        changed.ledger = kept;
      }),
    get(name) {
      const found = state.values.get(name);
      return found !== undefined && found.endMs > time.nowMs() ? found.value : undefined;
    },
    set(name, value, lifeMs = Number.POSITIVE_INFINITY) {
      const endMs = time.nowMs() + lifeMs;
      apply('', ({ values }) => {
        if (value === undefined) values.delete(name);
        else values.set(name, { value, endMs });
      });
    },
  });

  const call = async <Reply>(run: () => Reply): Promise<Reply> => {
    await time.wait(random.next() * 4);
    if (store.isAway) return lose(time);
    if (random.chance(store.lostShare / 2)) return lose(time);
    const reply = run();
    if (random.chance(store.lostShare / 2)) return lose(time);
    await time.wait(random.next() * 4);
    return reply;
  };

  const settleOne = (settlement: Settlement): SettleReply => {
    const { requestId, accountId, actualMicros, lastKnownMs } = settlement;
    const nowMs = time.nowMs();
    const enteredMs = dataOf().nowMs;
    const hold = state.holds.get(requestId);
    const mark = findMark(state, requestId, nowMs);
    let kind: 'charge' | 'late' | 'orphan' = 'charge';
    let already = 0;
    if (hold === undefined && mark !== undefined) {
      if (!mark.isSwept) return { kind: 'repeated', chargedMicros: mark.charged };
      kind = 'late';
      already = mark.charged;
    } else if (hold === undefined) {
      if (nowMs - lastKnownMs > MARK_TIMES.settledAgeMaxMs) return { kind: 'too_old' };
      kind = 'orphan';
    }
    const charged = actualMicros - already;
    apply(requestId, (changed) => {
      changed.holds.delete(requestId);
      changed.marks.set(requestId, { charged: actualMicros, isSwept: false, atMs: nowMs });
      enter(changed, { kind, accountId, requestId, charged }, enteredMs);
    });
    return { kind, chargedMicros: charged, shortMicros: 0, balanceMicros: 0 };
  };

  const store: SimulatedStore = {
    isAway: false,
    lostShare: 0,
    masterId: 1,
    undone,
    hold({ requestId, accountId, seenMicros }) {
      const dueMs = time.nowMs() + LEASE_MS;
      const hold = { accountId, seen: seenMicros, dueMs };
      apply(requestId, ({ holds }) => holds.set(requestId, hold));
    },
    settle: (run) => call(() => run.map(settleOne)),
    call: (run) => call(() => run(dataOf())),
    sweep() {
      const nowMs = time.nowMs();
      const enteredMs = dataOf().nowMs;
      for (const [requestId, { accountId, seen, dueMs }] of [...state.holds]) {
        if (dueMs > nowMs) continue;
        apply(requestId, (changed) => {
          changed.holds.delete(requestId);
          changed.marks.set(requestId, { charged: seen, isSwept: true, atMs: nowMs });
          enter(changed, { kind: 'expired', accountId, requestId, charged: seen }, enteredMs);
        });
      }
    },
    failOver(lagMaxMs) {
      const sinceMs = time.nowMs() - random.next() * lagMaxMs;
      const kept = changes.filter(({ atMs }) => atMs <= sinceMs);
      for (const { requestId } of changes.slice(kept.length)) undone.add(requestId);
      clockAheadMs = random.int(-CLOCK_AHEAD_MAX_MS, CLOCK_AHEAD_MAX_MS);
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
  return {
    ...{ holds: new Map(), marks: new Map(), values: new Map() },
    ...{ ledger: [], last: { ms: 0, seq: 0 }, isTrimmed: false },
  };
}

function findMark({ marks }: State, requestId: string, nowMs: number) {
  const mark = marks.get(requestId);
  return mark !== undefined && nowMs - mark.atMs <= MARK_TIMES.keptMinMs ? mark : undefined;
}

/** Some connections tell at once that they are closed; others say nothing until the time is up. */
async function lose(time: SimulatedTime): Promise<never> {
  const COMMAND_TIMEOUT_MS = 1_000;
  const isSilent = time.random.chance(0.5);
  await time.wait(isSilent ? COMMAND_TIMEOUT_MS : 1);
  throw new Error(isSilent ? 'Command timed out' : 'Connection is closed.');
}
