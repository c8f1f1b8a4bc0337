import type { Log } from '../../lib/log.ts';
import { showEvent } from '../limit-event.ts';
import type { ListEntry, ListedEvent } from '../list/event-list.ts';
import { createAccountQueues, type WaitingEvent } from './account-queues.ts';
import { createListReader, type PageEnd } from './list-reader.ts';
import type { PostEnd, Webhook, WebhookMessage } from './post-webhook.ts';
import type { WebhookPlace, WebhookStore } from './webhook-store.ts';

/** Events of one webhook in memory; the list in Redis keeps the rest. */
const WAITING_MAX = 10_000;
const POSTS_AT_ONCE_MAX = 8;
const GIVE_UP_MS = 24 * 3_600_000;
const RETRY_MIN_MS = 2_000;
const RETRY_MAX_MS = 30 * 60_000;
/** After a failure, all events of a webhook wait this long at most. */
const PAUSE_MAX_MS = 60_000;
/** Redis forgets a place after some time, so it is noted again even if nothing has changed. */
const NOTE_AGAIN_MS = 3_600_000;

export type DeliveryOutcome = 'delivered' | 'failed' | 'dropped' | 'lost';

interface WebhookDeliveryOptions {
  readonly name: string;
  readonly place: WebhookPlace;
  /** As the settings have it now. */
  readonly webhook: () => Webhook;
  /** Answers with undefined if the node stops. */
  readonly post: (webhook: Webhook, message: WebhookMessage) => Promise<PostEnd | undefined>;
  /** Whether there is time for a post before the lease ends. */
  readonly mayPost: () => boolean;
  readonly readFrom: (number: number, count: number) => Promise<readonly ListEntry[]>;
  readonly store: Pick<WebhookStore, 'note' | 'noteDelivered' | 'noteFailing'>;
  readonly onOutcome: (outcome: DeliveryOutcome, count: number) => void;
  /** For times that people are shown: the clock of this node. */
  readonly nowMs: () => number;
  /** The clock that dated the events. */
  readonly redisNowMs: () => number;
  /** For all waits: a clock that nobody sets. */
  readonly monotonicMs: () => number;
  /** Numbers from 0 up to 1. */
  readonly random: () => number;
  readonly log: Log;
}

export interface WebhookDelivery {
  /**
   * Reads new events and begins to post those that are due. Returns false if memory no longer
   * matches Redis, or if another node delivers now.
   */
  look(): Promise<boolean>;
  /** Resolves when nothing is under way. */
  finishPosts(): Promise<void>;
  waiting(): number;
  failingSinceMs(): number | undefined;
}

/**
 * Sends events to one webhook.
 *
 *   list ──▶ queue of the account ──head, due──▶ post ──2xx──▶ noted in Redis
 *                     ▲                            ├── else ──▶ again, later and later, for a day
 *                     └────────────────────────────┘            └── then dropped, and noted
 *
 * An event that is older than a day when its turn comes, because the fleet was stopped or the
 * webhook was missing from the settings, is tried once.
 */
export function createWebhookDelivery(options: WebhookDeliveryOptions): WebhookDelivery {
  const { name, store, onOutcome, redisNowMs, monotonicMs, log } = options;
  const queues = createAccountQueues();
  const health = createHealth(options);
  const posts = new Set<Promise<void>>();
  let isOwn = true;
  let dropped = 0;
  let noteDueMs = monotonicMs() + NOTE_AGAIN_MS;

  const countWaiting = () => queues.size() + reader.countPostponed();
  const reader = createListReader(options, { queues, note: (lost) => note(undefined, lost) });
  const note = async (number: number | undefined, dropped: number) => {
    const cursor = Math.min(queues.first(), reader.nextNumber()) - 1;
    const read = { seen: reader.seen(), readTo: reader.readTo(), waiting: countWaiting() };
    isOwn = (await store.note(name, { number, cursor, dropped, ...read })) && isOwn;
    noteDueMs = monotonicMs() + NOTE_AGAIN_MS;
  };

  const finish = async (waiting: WaitingEvent, dropped: number) => {
    queues.remove(waiting);
    // If Redis does not take it, the event is sent again, unless this node notes the next one.
    await note(waiting.number, dropped).catch(() => {});
  };

  const deliver = async (waiting: WaitingEvent) => {
    if (isGivenUp(waiting, redisNowMs(), health.triedMs())) {
      dropped += 1;
      onOutcome('dropped', 1);
      return finish(waiting, 1);
    }
    const end = await options.post(options.webhook(), encodeMessage(waiting));
    if (end === undefined) return;
    onOutcome(end.kind, 1);
    health.note(end);
    if (end.kind === 'delivered') return finish(waiting, 0);
    waiting.attempts += 1;
    waiting.dueMs = monotonicMs() + retryDelay(waiting.attempts, RETRY_MAX_MS, options.random);
    queues.giveBack(waiting);
  };

  const begin = () => {
    while (isOwn && options.mayPost() && posts.size < health.postsMax() && health.isDue()) {
      const waiting = queues.take((dueMs) => monotonicMs() >= dueMs);
      if (waiting === undefined) return;
      const post = deliver(waiting).finally(() => {
        posts.delete(post);
        begin();
      });
      posts.add(post);
    }
  };

  return {
    async look() {
      if (queues.size() < WAITING_MAX) await reader.readPostponed();
      let read: PageEnd = 'more';
      while (read === 'more' && queues.size() < WAITING_MAX) read = await reader.readPage();
      if (read === 'changed') return false;
      if (monotonicMs() >= noteDueMs) await note(undefined, 0);
      begin();
      if (dropped > 0) log.error({ webhook: name, dropped }, 'events were given up after a day');
      dropped = 0;
      return isOwn;
    },
    async finishPosts() {
      while (posts.size > 0) await Promise.allSettled(posts);
    },
    waiting: countWaiting,
    failingSinceMs: health.failingSinceMs,
  };
}

/**
 * An event is given up untried if it has waited for a day behind others that failed. An event
 * that is old because nobody could try it before is not given up.
 */
function isGivenUp(
  { event, attempts }: WaitingEvent,
  redisNowMs: number,
  triedMs: number,
): boolean {
  return redisNowMs - event.atMs > GIVE_UP_MS && (attempts > 0 || triedMs > GIVE_UP_MS);
}

/** While a webhook fails it is tried with one event at a time, after longer and longer pauses. */
function createHealth(options: WebhookDeliveryOptions) {
  const { name, place, store, nowMs, monotonicMs, random, log } = options;
  let sinceMs = place.failingSinceMs;
  let triedSinceMs: number | undefined;
  let failures = 0;
  let dueMs = 0;
  const quietly = (writing: Promise<void>) => void writing.catch(() => {});
  return {
    failingSinceMs: () => sinceMs,
    /** For how long this node has tried in vain. */
    triedMs: () => monotonicMs() - (triedSinceMs ?? monotonicMs()),
    postsMax: () => (failures > 0 ? 1 : POSTS_AT_ONCE_MAX),
    isDue: () => monotonicMs() >= dueMs,
    note(end: PostEnd) {
      if (end.kind === 'delivered') {
        if (sinceMs !== undefined) log.info({ webhook: name }, 'a webhook works again');
        [sinceMs, triedSinceMs, failures, dueMs] = [undefined, undefined, 0, 0];
        quietly(store.noteDelivered(name, nowMs()));
        return;
      }
      const { reason } = end;
      if (triedSinceMs === undefined) log.warn({ webhook: name, reason }, 'a webhook fails');
      triedSinceMs ??= monotonicMs();
      sinceMs ??= nowMs();
      failures += 1;
      dueMs = monotonicMs() + retryDelay(failures, PAUSE_MAX_MS, random);
      quietly(store.noteFailing(name, sinceMs, reason));
    },
  };
}

/** Twice as long each time, up to a bound, and less by a quarter at most. */
function retryDelay(attempts: number, msMax: number, random: () => number): number {
  const ms = Math.min(msMax, RETRY_MIN_MS * 2 ** Math.min(attempts - 1, 30));
  return ms * (1 - random() / 4);
}

function encodeMessage({ event }: ListedEvent): WebhookMessage {
  const { type, at, ...data } = showEvent(event);
  return { id: event.id, body: JSON.stringify({ type, timestamp: at, data }) };
}
