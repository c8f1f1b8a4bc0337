import type { Book } from '../support/book.ts';
import type { ProofEvent, Tokens } from '../support/event-log.ts';
import { type HoldExtras, parseExtras } from '../support/parse-extras.ts';
import type { LimitRow, LimitSubject } from '../support/snapshot.ts';
import type { ProofAccount } from '../support/world.ts';
import { isHard, keepsTimes, periodOf } from './check-lists.ts';
import type { Report } from './violations.ts';

const SLICES = 60;
/**
 * What is in slices of a clock that was ahead counts in the newest slice, so it may count for longer
 * by as much as the clock goes back.
 */
const BEHIND_MS = 1_000;

/** One request as the clients and the ledger know it. */
interface Counted {
  /** Undefined if nobody heard that it was admitted. */
  readonly extras: HoldExtras | undefined;
  readonly accountId: string;
  readonly keyId: string;
  readonly held: Readonly<Record<string, number>>;
  readonly used: Readonly<Record<string, number>>;
}

interface CheckOptions {
  /** At the end, when nothing is held any more. */
  readonly subjects: readonly LimitSubject[];
  readonly world: readonly ProofAccount[];
  readonly book: Book;
  readonly limitMaxOf: (subjectId: string) => number | undefined;
  readonly report: Report;
}

/**
 * L4 and L5: what was used counts in the windows of the admission, and in no stretch of a window's
 * length more was used of what was held than the limit allows. Returns how many limits were checked
 * and how many of them were full.
 */
export function checkCounted(events: readonly ProofEvent[], options: CheckOptions) {
  const { subjects, world, report, limitMaxOf } = options;
  const requests = collectRequests(events, options);
  const accounts = new Map(world.map((account) => [account.accountId, account]));
  let [limitsChecked, limitsFull] = [0, 0];
  for (const subject of subjects) {
    const own = requests.filter((request) => mayCountFor(request, subject));
    for (const row of subject.rows) {
      const tell = (check: string, text: string) =>
        report(check, `${subject.level} ${subject.id}: ${text}: ${JSON.stringify(row)}`);
      const account = accounts.get(subject.accountId);
      if (!keepsTimes(row)) checkSum(row, own, tell);
      limitsChecked += 1;
      if (!isHard(row, account)) continue;
      const most = Math.max(row.amount, limitMaxOf(subject.id) ?? 0);
      const used = findMostInStretch(row, own);
      if (used > most) tell('L5', `${used} of ${most} in one window`);
      if (used > 0.9 * row.amount) limitsFull += 1;
    }
  }
  return { limitsChecked, limitsFull };
}

function collectRequests(events: readonly ProofEvent[], { book, world }: CheckOptions): Counted[] {
  const accountOf = new Map(
    world.flatMap(({ accountId, keys }) => keys.map(({ keyId }) => [keyId, accountId] as const)),
  );
  const asked = new Map<string, { readonly keyId: string; readonly tokens: Tokens }>();
  const told = new Map<string, string>();
  const used = new Map<string, Tokens>();
  for (const event of events) {
    if (event.type === 'asking') asked.set(event.requestId, event);
    if (event.type === 'admitted') told.set(event.requestId, event.extras);
    if (event.type === 'settling' && event.used) used.set(event.requestId, event.used);
  }
  return [...asked].flatMap(([requestId, { keyId, tokens }]) => {
    const entries = book.requests.get(requestId);
    const extras = parseExtras(told.get(requestId) ?? '');
    // Without an entry it was refused; one that was told without extras met no list.
    if (entries === undefined || (told.has(requestId) && extras === undefined)) return [];
    const [first] = entries;
    // What ran out left its room to others, but for what it was charged.
    const covered = first?.kind === 'expired' ? first.charged : (first?.held ?? 0);
    const held = byUnit(extras ?? tokens, covered);
    const isSettled = entries.at(-1)?.kind !== 'expired';
    const charged = entries.reduce((sum, entry) => sum + entry.charged, 0);
    const tokensUsed = isSettled ? used.get(requestId) : undefined;
    const accountId = accountOf.get(keyId) ?? '';
    return [
      { extras, accountId, keyId, held, used: byUnit(tokensUsed ?? extras ?? tokens, charged) },
    ];
  });
}

function byUnit({ input, output }: Tokens, micros: number) {
  return { r: 1, i: input, o: output, t: input + output, c: micros };
}

/** Of one that nobody heard of, neither the group nor the end user is known. */
function mayCountFor({ accountId, keyId, extras }: Counted, { level, id, ...of }: LimitSubject) {
  if (accountId !== of.accountId) return false;
  if (extras === undefined) return level !== 'key' || keyId === id;
  const ids = { key: keyId, user: extras.userId, group: extras.groupId, account: accountId };
  return ids[level] === id;
}

/** L4: everything in the window that the row has counts in it, and nothing else. */
function checkSum(row: LimitRow, own: readonly Counted[], tell: Report): void {
  let [least, most] = [0, 0];
  for (const request of own) {
    const bounds = boundsOf(row, request);
    least += bounds.least;
    most += bounds.most;
  }
  if (row.counted < least || row.counted > most) {
    tell('L4', `counts ${row.counted}, not ${least} to ${most}`);
  }
}

/** How much one request counts in the window that the row has. */
function boundsOf(row: LimitRow, { extras, held, used }: Counted) {
  const [ofHeld, ofUsed] = [held[row.unit] ?? 0, used[row.unit] ?? 0];
  if (extras === undefined) return { least: 0, most: Math.max(ofHeld, ofUsed) };
  if (extras.at < row.since) return { least: 0, most: 0 };
  const period = periodOf(row, extras.at);
  const firstMs = ((row.head - SLICES) * row.window) / SLICES;
  const isIn = period === undefined ? extras.at >= firstMs : period === row.head;
  const mayBeIn = period === undefined ? extras.at >= firstMs - BEHIND_MS : isIn;
  // A limit counts what is beyond the hold as far as it has room, and credits as they are charged.
  const sure = row.blocks && row.unit !== 'c' ? Math.min(ofHeld, ofUsed) : ofUsed;
  return { least: isIn ? sure : 0, most: mayBeIn ? ofUsed : 0 };
}

/**
 * L5. What is charged beyond the hold counts as far as there is room, if the window of the admission
 * is not over; when it is, nobody knows the room. So only what was covered is looked at.
 */
function findMostInStretch(row: LimitRow, own: readonly Counted[]): number {
  const times = own.flatMap(({ extras, held, used }) => {
    if (extras === undefined) return [];
    return [{ at: extras.at, amount: Math.min(held[row.unit] ?? 0, used[row.unit] ?? 0) }];
  });
  times.sort((one, other) => one.at - other.at);
  let [first, sum, most] = [0, 0, 0];
  for (const { at, amount } of times) {
    sum += amount;
    for (let oldest = times[first]; oldest !== undefined; oldest = times[first]) {
      const period = periodOf(row, oldest.at);
      const isIn =
        period === undefined ? at - oldest.at < row.window : period === periodOf(row, at);
      if (isIn) break;
      sum -= oldest.amount;
      first += 1;
    }
    most = Math.max(most, sum);
  }
  return most;
}
