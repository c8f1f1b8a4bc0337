import type { SettleReply } from '../../../src/quota/scripts/settle.ts';
import type { Book } from '../support/book.ts';
import type { Admitted, ProofEvent } from '../support/event-log.ts';
import type { LedgerRecord } from '../support/snapshot.ts';
import type { Report } from './violations.ts';

/** What the clients know about one request. */
interface View {
  admitted: Admitted | undefined;
  /**
   * Usage that renewals certainly recorded, and usage that the last one may have recorded: requests
   * that were shut may be gone, too.
   */
  seenLeast: number;
  seenMost: number;
  actual: number | undefined;
  readonly replies: SettleReply[];
}

type Views = ReadonlyMap<string, View>;

function collectViews(events: readonly ProofEvent[]): Views {
  const views = new Map<string, View>();
  const viewOf = (requestId: string) => {
    const known = views.get(requestId);
    if (known !== undefined) return known;
    const view: View = {
      admitted: undefined,
      seenLeast: 0,
      seenMost: 0,
      actual: undefined,
      replies: [],
    };
    views.set(requestId, view);
    return view;
  };
  for (const event of events) {
    if (event.type === 'admitted') viewOf(event.requestId).admitted = event;
    else if (event.type === 'renewing') viewOf(event.requestId).seenMost = event.seen;
    else if (event.type === 'settling') viewOf(event.requestId).actual = event.actual;
    else if (event.type === 'settled') viewOf(event.requestId).replies.push(event.reply);
    else if (event.type === 'renewed' && event.reply === 'active') {
      const view = viewOf(event.requestId);
      view.seenLeast = view.seenMost;
    }
  }
  return views;
}

interface CheckOptions {
  /** The whole ledger, after every lease has ended. */
  readonly book: Book;
  /** Requests whose hold was removed, as by a failover. */
  readonly lost: ReadonlySet<string>;
  /** Whether the process that sent a request died before it could record the reply. */
  readonly isUnheard: (requestId: string) => boolean;
  readonly report: Report;
}

/**
 * I6 and I7: every outcome that a client was told is in the ledger exactly once; every other
 * outcome is there at most once.
 */
export function checkViews(events: readonly ProofEvent[], options: CheckOptions): void {
  const { book, lost, isUnheard, report } = options;
  const views = collectViews(events);
  for (const [requestId, view] of views) {
    const entries = book.requests.get(requestId) ?? [];
    const tell = (check: string, text: string) =>
      report(check, `${requestId}: ${text}: ${JSON.stringify({ view, entries })}`);
    checkReplies(view, entries, tell);
    checkMonth(view, entries, tell);
    checkExpiry(view, entries, tell);
    const isLost = lost.has(requestId);
    if (entries.length === 0 && view.admitted !== undefined && !isLost) {
      tell('I6', 'a request never ended');
    }
    if (entries[0]?.kind === 'orphan' && !isLost) tell('I6', 'its hold was lost');
  }
  for (const [requestId, entries] of book.requests) {
    if (views.has(requestId)) continue;
    const isNothing = entries.length === 1 && entries[0]?.charged === 0;
    if (!isUnheard(requestId) || !isNothing)
      report('I6', `nobody asked: ${JSON.stringify(entries)}`);
  }
}

function checkReplies(view: View, entries: readonly LedgerRecord[], tell: Report): void {
  const { replies, actual } = view;
  const effects = replies.filter(({ kind }) => kind !== 'repeated' && kind !== 'too_old');
  if (effects.length > 1) tell('I7', 'a settlement took effect twice');
  const charged = entries.reduce((sum, entry) => sum + entry.charged, 0);
  const last = entries.at(-1);
  const isSettled = last !== undefined && last.kind !== 'expired';
  if (isSettled && charged + last.short !== actual) tell('I6', `${charged} is not what it cost`);
  if (isSettled && (charged < 0 || last.short < 0)) tell('I6', 'it was paid to use this');
  for (const reply of replies) {
    if (reply.kind === 'too_old') continue;
    if (!isSettled) tell('I6', `${reply.kind} was acknowledged and is not in the ledger`);
    else if (reply.kind === 'repeated') {
      if (reply.chargedMicros !== charged) tell('I7', 'repeated with another charge');
    } else if (
      reply.kind !== last.kind ||
      reply.chargedMicros !== last.charged ||
      reply.shortMicros !== last.short ||
      reply.balanceMicros !== last.balance
    ) {
      tell('I6', 'the reply differs from the ledger');
    }
  }
}

function checkMonth(view: View, entries: readonly LedgerRecord[], tell: Report): void {
  const month = view.admitted?.month;
  if (month !== undefined && entries.some((entry) => entry.month !== month)) {
    tell('month', 'another month than that of the admission pays');
  }
}

function checkExpiry(view: View, entries: readonly LedgerRecord[], tell: Report): void {
  const [first] = entries;
  if (first?.kind !== 'expired') return;
  const least = Math.min(view.seenLeast, first.held);
  const most = Math.min(view.seenMost, first.held);
  if (first.charged < least || first.charged > most)
    tell('expiry', 'not what was noted is charged');
}
