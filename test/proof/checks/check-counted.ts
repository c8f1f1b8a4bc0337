import type { PlanLimits } from '../../../src/protocol/admission.ts';
import type { Book } from '../support/book.ts';
import type { Admitted, Asking, ProofEvent, Tokens } from '../support/event-log.ts';
import { type HoldExtras, parseExtras } from '../support/parse-extras.ts';
import type { LimitRow, LimitSubject } from '../support/snapshot.ts';
import type { ProofAccount } from '../support/world.ts';
import { keepsTimes, periodOf } from './check-lists.ts';
import { type HardLimit, limitsOfWorld } from './limits-of-world.ts';
import type { Report } from './violations.ts';

const SLICES = 60;
/**
 * What is in slices of a clock that was ahead counts in the newest slice, so it may count for longer
 * by as much as the clock goes back.
 */
const BEHIND_MS = 1_000;

/** One request as the clients and the ledger know it. */
interface Counted {
  readonly accountId: string;
  readonly keyId: string;
  /** Of its key. */
  readonly groupId: string;
  /** Undefined if nobody heard that it was admitted. */
  readonly at: number | undefined;
  /** Undefined if it counts in no list, or nobody heard. */
  readonly extras: HoldExtras | undefined;
  readonly held: Readonly<Record<string, number>>;
  readonly used: Readonly<Record<string, number>>;
}

interface CheckOptions {
  /** At the end, when nothing is held any more. */
  readonly subjects: readonly LimitSubject[];
  readonly world: readonly ProofAccount[];
  readonly plans: PlanLimits;
  readonly book: Book;
  readonly limitMaxOf: (subjectId: string) => number | undefined;
  readonly report: Report;
}

/**
 * L4 and L5: what was used counts in the windows of the admission, and in no stretch of a window's
 * length more was used of what was held than a limit allows. Returns how many limits were checked
 * and how many of those that block were full.
 */
export function checkCounted(events: readonly ProofEvent[], options: CheckOptions) {
  const { subjects, world, plans, report, limitMaxOf } = options;
  const requests = collectRequests(events, options);
  let [limitsChecked, limitsFull] = [0, 0];
  for (const subject of subjects) {
    const own = requests.filter((request) => mayCountFor(request, subject));
    for (const row of subject.rows) {
      limitsChecked += 1;
      if (!keepsTimes(row)) checkSum(subject, row, own, report);
    }
  }
  for (const limit of limitsOfWorld(world, plans)) {
    const changed = limit.level === 'key' ? limitMaxOf(limit.id) : undefined;
    const most = Math.max(limit.amount, changed ?? 0);
    for (const own of groupByHolder(limit, requests)) {
      const used = findMostInStretch(limit, own);
      if (used > most) report('L5', `${used} of ${most} in one window: ${JSON.stringify(limit)}`);
      if (used > 0.9 * limit.amount) limitsFull += 1;
    }
  }
  return { limitsChecked, limitsFull };
}

function collectRequests(events: readonly ProofEvent[], { book, world }: CheckOptions): Counted[] {
  const owners = new Map(
    world.flatMap(({ accountId, keys }) =>
      keys.map(({ keyId, bounds }) => [keyId, { accountId, groupId: bounds?.groupId ?? '' }]),
    ),
  );
  const asked = new Map<string, Asking>();
  const told = new Map<string, Admitted>();
  const used = new Map<string, Tokens>();
  for (const event of events) {
    if (event.type === 'asking') asked.set(event.requestId, event);
    if (event.type === 'admitted') told.set(event.requestId, event);
    if (event.type === 'settling' && event.used) used.set(event.requestId, event.used);
  }
  return [...asked].flatMap(([requestId, { keyId, tokens }]) => {
    const entries = book.requests.get(requestId) ?? [];
    const [first, last] = [entries[0], entries.at(-1)];
    const owner = owners.get(keyId);
    // Without an entry it was refused.
    if (first === undefined || owner === undefined) return [];
    const admitted = told.get(requestId);
    const extras = parseExtras(admitted?.extras ?? '');
    // What ran out left its room to others, but for what it was charged.
    const held = byUnit(extras ?? tokens, first.kind === 'expired' ? first.charged : first.held);
    const charged = entries.reduce((sum, entry) => sum + entry.charged, 0);
    const tokensUsed = last?.kind === 'expired' ? undefined : used.get(requestId);
    const at = extras?.at ?? admitted?.nowMs;
    const amounts = { held, used: byUnit(tokensUsed ?? extras ?? tokens, charged) };
    return [{ ...owner, keyId, at, extras, ...amounts }];
  });
}

function byUnit({ input, output }: Tokens, micros: number) {
  return { r: 1, i: input, o: output, t: input + output, c: micros };
}

/** Of one that nobody heard of, the end user is not known. */
function mayCountFor(request: Counted, { level, id, accountId }: LimitSubject): boolean {
  if (request.accountId !== accountId) return false;
  if (level === 'user') return request.at === undefined || request.extras?.userId === id;
  return { key: request.keyId, group: request.groupId, account: accountId }[level] === id;
}

/** L4: everything in the window that the row has counts in it, and nothing else. */
function checkSum(
  { level, id }: LimitSubject,
  row: LimitRow,
  own: readonly Counted[],
  report: Report,
): void {
  let [least, most] = [0, 0];
  for (const request of own) {
    const bounds = boundsOf(row, request);
    least += bounds.least;
    most += bounds.most;
  }
  if (row.counted >= least && row.counted <= most) return;
  report('L4', `${level} ${id} counts not ${least} to ${most}: ${JSON.stringify(row)}`);
}

/** How much one request counts in the window that the row has. */
function boundsOf(row: LimitRow, { at, extras, held, used }: Counted) {
  const [ofHeld, ofUsed] = [held[row.unit] ?? 0, used[row.unit] ?? 0];
  if (at === undefined) return { least: 0, most: Math.max(ofHeld, ofUsed) };
  if (extras === undefined || at < row.since) return { least: 0, most: 0 };
  const period = periodOf(row, at);
  const firstMs = ((row.head - SLICES) * row.window) / SLICES;
  const isIn = period === undefined ? at >= firstMs : period === row.head;
  const mayBeIn = period === undefined ? at >= firstMs - BEHIND_MS : isIn;
  // A limit counts what is beyond the hold as far as it has room, and credits as they are charged.
  const sure = row.blocks && row.unit !== 'c' ? Math.min(ofHeld, ofUsed) : ofUsed;
  return { least: isIn ? sure : 0, most: mayBeIn ? ofUsed : 0 };
}

/** The requests that count for a limit; for that of a template those of each end user. */
function groupByHolder(limit: HardLimit, requests: readonly Counted[]): Counted[][] {
  const { level, id, accountId } = limit;
  const groups = new Map<string, Counted[]>();
  for (const request of requests) {
    if (request.accountId !== accountId) continue;
    const user = request.extras?.userId ?? '';
    const holder = {
      ...{ key: request.keyId, group: request.groupId, account: accountId },
      user: user.startsWith(`${id}:`) ? id : '',
    }[level];
    if (holder !== id) continue;
    const name = level === 'user' ? user : id;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [request]);
    else group.push(request);
  }
  return [...groups.values()];
}

/**
 * L5. What is charged beyond the hold counts as far as there is room, if the window of the admission
 * is not over; when it is, nobody knows the room. So only what was covered is looked at.
 */
function findMostInStretch(limit: HardLimit, own: readonly Counted[]): number {
  const times = own.flatMap(({ at, held, used }) => {
    const amount = Math.min(held[limit.unit] ?? 0, used[limit.unit] ?? 0);
    return at === undefined ? [] : [{ at, amount }];
  });
  times.sort((one, other) => one.at - other.at);
  let [first, sum, most] = [0, 0, 0];
  for (const { at, amount } of times) {
    sum += amount;
    for (let oldest = times[first]; oldest !== undefined; oldest = times[first]) {
      const period = periodOf(limit, oldest.at);
      const isRolling = period === undefined;
      if (isRolling ? at - oldest.at < limit.window : period === periodOf(limit, at)) break;
      sum -= oldest.amount;
      first += 1;
    }
    most = Math.max(most, sum);
  }
  return most;
}
