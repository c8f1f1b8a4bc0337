/**
 * Limits as a list in the simplest way there is: each limit of each subject remembers every
 * admission that it counts, and what counts is added up anew each time.
 */
export type Unit = 'r' | 't' | 'i' | 'o' | 'c';
export type Amounts = Readonly<Record<Unit, number>>;

export interface ModelLimit {
  readonly unit: Unit;
  readonly window: number | 'd' | 'w' | 'm';
  readonly blocks: boolean;
  amount: number;
  /** The highest amount it ever had. */
  amountMax: number;
}

export interface ModelSubject {
  readonly level: 'key' | 'user' | 'group' | 'account';
  readonly id: string;
  readonly limits: readonly ModelLimit[];
}

/** What one admission counts for one limit: what is held, then what was used and there was room for. */
interface Entry {
  readonly at: number;
  amount: number;
  /** What a running request holds of it. */
  held: number;
}

interface Counted {
  readonly subject: ModelSubject;
  readonly limit: ModelLimit;
  readonly entry: Entry;
}

export interface ModelRequest {
  readonly at: number;
  readonly held: Amounts;
  /** Whether its output may become longer than what is held. */
  readonly isSoft: boolean;
  readonly counted: readonly Counted[];
  /** What it was charged until now: nothing, or what it had cost when its lease ran out. */
  charged: number;
  isExpired: boolean;
}

const SLICES = 60;
const DAY_MS = 86_400_000;

export function encodeList(limits: readonly ModelLimit[]): string {
  return limits
    .map(({ unit, window, amount, blocks }) => `${unit},${window},${amount},${blocks ? 'b' : 'w'};`)
    .join('');
}

/** When the period begins that a moment is in. */
export function startOf(ms: number, window: 'd' | 'w' | 'm'): number {
  const date = new Date(ms);
  const day = Math.floor(ms / DAY_MS) * DAY_MS;
  if (window === 'd') return day;
  if (window === 'w') return day - ((date.getUTCDay() + 6) % 7) * DAY_MS;
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

/** Since when admissions count for a limit as the scripts count. */
function firstThatCounts({ unit, window, blocks }: ModelLimit, now: number): number {
  if (typeof window !== 'number') return startOf(now, window);
  if (unit === 'r' && blocks) return now - window + 1;
  // The slice that has begun, and the 60 before it.
  return Math.ceil(((Math.floor((now * SLICES) / window) - SLICES) * window) / SLICES);
}

/** Time must not go backwards. */
export function createModel() {
  const lists = new Map<string, { readonly entries: Entry[]; knownAmount: number }>();

  const listOf = ({ id }: ModelSubject, { unit, window, blocks, amount }: ModelLimit) => {
    const name = `${id} ${unit} ${window} ${blocks}`;
    const list = lists.get(name) ?? { entries: [], knownAmount: amount };
    lists.set(name, list);
    return list;
  };
  const entriesOf = (subject: ModelSubject, limit: ModelLimit) => listOf(subject, limit).entries;
  const sumSince = (subject: ModelSubject, limit: ModelLimit, first: number) => {
    let total = 0;
    for (const { at, amount } of entriesOf(subject, limit)) if (at >= first) total += amount;
    return total;
  };
  const countedAt = (subject: ModelSubject, limit: ModelLimit, now: number) =>
    sumSince(subject, limit, firstThatCounts(limit, now));
  const roomAt = (subject: ModelSubject, limit: ModelLimit, now: number) =>
    limit.amount - countedAt(subject, limit, now);

  /** Another amount holds from the next admission on; what ends before is settled by the old one. */
  const roomToSettle = (subject: ModelSubject, limit: ModelLimit, now: number) =>
    Math.max(0, listOf(subject, limit).knownAmount - countedAt(subject, limit, now));

  /** What running requests hold of what counts. */
  const heldAt = (subject: ModelSubject, limit: ModelLimit, now: number) => {
    const { unit, window, blocks } = limit;
    if (typeof window === 'number' && unit === 'r' && blocks) return 0;
    const first = typeof window === 'number' ? 0 : startOf(now, window);
    let total = 0;
    for (const { at, held } of entriesOf(subject, limit)) if (at >= first) total += held;
    // What a request holds in a window that rolls is known for as long as it runs.
    return Math.min(total, countedAt(subject, limit, now));
  };

  /** How many credits may be charged beyond what the request counts already. */
  const roomToCharge = ({ at, counted }: ModelRequest, now: number) => {
    let room = Number.POSITIVE_INFINITY;
    for (const { subject, limit } of counted) {
      if (limit.unit !== 'c' || !limit.blocks || at < firstThatCounts(limit, now)) continue;
      room = Math.min(room, roomToSettle(subject, limit, now));
    }
    return room;
  };

  return {
    countedAt,
    heldAt,
    roomAt,
    /** How much was used and held in the stretch of the window's length that ends now. */
    inStretch: (subject: ModelSubject, limit: ModelLimit, now: number) => {
      const { window } = limit;
      const first = typeof window === 'number' ? now - window + 1 : startOf(now, window);
      return sumSince(subject, limit, first);
    },
    /** Forgets what no limit will ever count again. */
    forgetBefore(subjects: readonly ModelSubject[], now: number) {
      for (const subject of subjects) {
        for (const limit of subject.limits) {
          const entries = entriesOf(subject, limit);
          const first = firstThatCounts(limit, now);
          const count = entries.findIndex(({ at, held }) => at >= first || held > 0);
          entries.splice(0, count < 0 ? entries.length : count);
        }
      }
    },
    admit(
      at: number,
      subjects: readonly ModelSubject[],
      held: Amounts,
      isSoft: boolean,
    ): ModelRequest {
      const counted = subjects.flatMap((subject) =>
        subject.limits.map((limit) => {
          const amount = held[limit.unit];
          const entry = { at, amount, held: amount };
          const list = listOf(subject, limit);
          list.entries.push(entry);
          list.knownAmount = limit.amount;
          return { subject, limit, entry };
        }),
      );
      return { at, held, isSoft, counted, charged: 0, isExpired: false };
    },
    /** Nobody knows how many tokens were used, so those that were held count. */
    expire(request: ModelRequest, seenMicros: number): void {
      request.charged = Math.min(seenMicros, request.held.c);
      request.isExpired = true;
      for (const { limit, entry } of request.counted) {
        entry.held = 0;
        if (limit.unit === 'c') entry.amount = request.charged;
      }
    },
    /** Returns what is charged now. */
    settle(request: ModelRequest, used: Amounts, now: number): number {
      const covered = request.isExpired ? request.charged : request.held.c;
      const total = Math.min(used.c, covered + roomToCharge(request, now));
      const charged = used.c <= covered ? used.c : total;
      for (const { subject, limit, entry } of request.counted) {
        entry.held = 0;
        if (limit.unit === 'r') continue;
        const more = (limit.unit === 'c' ? charged : used[limit.unit]) - entry.amount;
        const isFree = !limit.blocks || (request.isSoft && limit.unit !== 'c');
        const room = isFree ? more : roomToSettle(subject, limit, now);
        entry.amount += Math.min(more, room);
      }
      return charged - request.charged;
    },
  };
}

export type Model = ReturnType<typeof createModel>;
