/**
 * Limits as a list in the simplest way there is: every admission is remembered for ever, and what
 * counts is added up anew each time.
 */
export type Unit = 'r' | 't' | 'i' | 'o' | 'c';
export type Amounts = Readonly<Record<Unit, number>>;

export interface ModelLimit {
  readonly unit: Unit;
  readonly window: number | 'd' | 'w' | 'm';
  readonly amount: number;
  readonly blocks: boolean;
}

export interface ModelSubject {
  readonly level: 'key' | 'user' | 'group' | 'account';
  readonly id: string;
  readonly limits: readonly ModelLimit[];
}

export interface ModelRequest {
  readonly at: number;
  readonly subjects: readonly ModelSubject[];
  readonly held: Amounts;
  /** What counts for each limit: what is held, then what was used, as far as there was room. */
  readonly counted: Map<ModelLimit, number>;
  isOpen: boolean;
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

/** Whether an admission counts for a limit as the scripts count. */
function counts({ unit, window, blocks }: ModelLimit, at: number, now: number): boolean {
  if (typeof window !== 'number') return startOf(at, window) === startOf(now, window);
  if (unit === 'r' && blocks) return now - at < window;
  const sliceOf = (ms: number) => Math.floor((ms * SLICES) / window);
  return sliceOf(now) - sliceOf(at) <= SLICES;
}

export function createModel() {
  const requests: ModelRequest[] = [];

  const sum = (subject: ModelSubject, limit: ModelLimit, matches: (at: number) => boolean) => {
    let total = 0;
    for (const request of requests) {
      if (request.subjects.some(({ id }) => id === subject.id) && matches(request.at)) {
        total += request.counted.get(limit) ?? 0;
      }
    }
    return total;
  };
  const countedAt = (subject: ModelSubject, limit: ModelLimit, now: number) =>
    sum(subject, limit, (at) => counts(limit, at, now));
  const roomAt = (subject: ModelSubject, limit: ModelLimit, now: number) =>
    limit.amount - countedAt(subject, limit, now);

  return {
    countedAt,
    roomAt,
    /** How much was used and held in the stretch of the window's length that ends now. */
    inStretch: (subject: ModelSubject, limit: ModelLimit, now: number) => {
      const { window } = limit;
      return sum(subject, limit, (at) =>
        typeof window === 'number' ? now - at < window : counts(limit, at, now),
      );
    },
    admit(at: number, subjects: readonly ModelSubject[], held: Amounts): ModelRequest {
      const counted = new Map<ModelLimit, number>();
      for (const { limits } of subjects) {
        for (const limit of limits) counted.set(limit, held[limit.unit]);
      }
      const request = { at, subjects, held, counted, isOpen: true };
      requests.push(request);
      return request;
    },
    /** Returns what is charged. */
    settle(request: ModelRequest, used: Amounts, now: number): number {
      const each = request.subjects.flatMap((subject) =>
        subject.limits.map((limit) => ({ subject, limit })),
      );
      let charged = used.c;
      for (const { subject, limit } of each) {
        if (limit.unit !== 'c' || !limit.blocks || !counts(limit, request.at, now)) continue;
        const room = Math.max(0, roomAt(subject, limit, now));
        charged = Math.min(charged, Math.max(request.held.c + room, 0));
      }
      const spent = { ...used, c: charged };
      for (const { subject, limit } of each) {
        if (limit.unit === 'r') continue;
        const more = spent[limit.unit] - request.held[limit.unit];
        const room = limit.blocks ? Math.max(0, roomAt(subject, limit, now)) : Infinity;
        request.counted.set(limit, request.held[limit.unit] + Math.min(more, room));
      }
      request.isOpen = false;
      return charged;
    },
  };
}
