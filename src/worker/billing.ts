import type { Config } from '../config/config.ts';
import type { Steps } from '../gateway/steps.ts';
import { BUCKETS } from '../keys/bucket-tags.ts';
import { digestEndUser } from '../keys/digest-end-user.ts';
import { createKeyCheck, type KeyCheck } from '../keys/key-check.ts';
import type { RedisTarget } from '../lib/address/redis-target.ts';
import type { Log } from '../lib/log.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { MastersNews } from '../messages/worker-messages.ts';
import type { ADMISSION_OUTCOMES } from '../metrics/label-sets.ts';
import {
  createObserveAsked,
  createObserveSettled,
  observeChange,
} from '../metrics/observe-billing.ts';
import { createObserveCommand, watchBreakers } from '../metrics/observe-redis.ts';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';
import type { PlanLimits } from '../protocol/admission.ts';
import { type AskStore, createAskStore } from '../quota/ask-store.ts';
import { createAdmitRequest } from '../quota/create-admit-request.ts';
import { createOpenHolds, type OpenHolds } from '../quota/open-holds.ts';
import { createGatheredAdmit } from '../quota/scripts/admit.ts';
import { renew } from '../quota/scripts/renew.ts';
import { createGatheredSettle } from '../quota/scripts/settle.ts';
import type { Settlement } from '../quota/settlement/settlement.ts';
import { createSettleQueue, type SettleQueue } from '../quota/settling/settle-queue.ts';
import { type Breaker, callThrough, createBreaker } from '../redis/breaker.ts';
import { connectRedis, type RedisConnection } from '../redis/connect-redis.ts';
import { type Change, listenForChanges } from '../redis/listen-for-changes.ts';
import { createBucketBreakers } from './create-bucket-breakers.ts';
import { createFreeCalls } from './create-free-calls.ts';
import { createProxyDoubts } from './create-proxy-doubts.ts';
import { createInsurance, type Insurance } from './insurance.ts';
import { openAnswerKeeper } from './keeper/open-answer-keeper.ts';

/**
 * A client waits for these commands, so two attempts must fit into its patience. A shorter time-out
 * would blame Redis where this process is late: a timer that is due runs before a reply that has
 * already arrived is read.
 */
const ADMIT_TIMEOUT_MS = 700;
/** How long a worker that ends may wait for the store and the primary. */
const SETTLE_DRAIN_MAX_MS = 3_000;

interface BillingOptions {
  readonly config: Config;
  /** The limits that hold at this moment, for calls that cost nothing. */
  readonly plans: () => PlanLimits;
  readonly target: RedisTarget;
  /** While the books are full, no request is admitted. */
  readonly books: { readonly isFull: boolean };
  /** Distinguishes this worker's connections in the client list of Redis. */
  readonly name: string;
  /** For commands that no client waits for, except settlements. */
  readonly redis: RedisConnection;
  readonly breaker: Breaker;
  /** How far the clock of Redis is ahead of this machine's clock. */
  readonly clockSkewMs: () => number;
  readonly metrics: ProcessMetrics;
  /** Resolves when the primary has the settlements on its disk. */
  readonly handOver: (settlements: readonly Settlement[]) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Billing {
  readonly steps: Pick<
    Steps,
    'checkKey' | 'unpaidBodies' | 'admit' | 'prove' | 'admitFree' | 'describeKey' | 'answerKeeper'
  >;
  /** Whether some requests can be admitted without the store. */
  canInsure(): boolean;
  noteMasters(news: MastersNews): void;
  /** Settles open settlements or hands them over. No request may be running any more. */
  close(): Promise<void>;
}

/**
 * A worker's part in keys, limits and credits: the steps of the spine, and the work behind them.
 */
export function createBilling(options: BillingOptions): Billing {
  const { config, target, name, redis, breaker, metrics, clock, log } = options;
  const random = Math.random;
  const admitConnection = connectRedis({
    ...{ target, name: `${name}-admit`, commandTimeoutMs: ADMIT_TIMEOUT_MS, isBusy: true, log },
    onCommand: createObserveCommand(metrics, 'admit'),
  });
  const keyCheck = createKeyCheck(config.guards, createProxyDoubts(options), clock);
  const breakerOf = createBucketBreakers(target, breaker, () => createBreaker({ clock, random }));
  const askStore = createAskStore({ breakerOf, random });
  const openHolds = createOpenHolds({
    renew: (hold, state) =>
      callThrough(breakerOf(hold.bucket), () => renew(redis, hold, state, config.warnings)),
    clock: createRedisClock(options),
    log,
  });
  const dropped = metrics.settlements.at({ kind: 'dropped' });
  const settleQueue = createSettleQueue({
    // Shares writes with admissions: that takes a quarter less CPU time of Redis.
    settle: createGatheredSettle(admitConnection, config.warnings),
    handOver: options.handOver,
    onSettled: createObserveSettled(metrics),
    onDropped: () => dropped.add(1),
    clock,
    random,
    log,
  });

  const changes = listenForChanges({
    target,
    name: `${name}-changes`,
    log,
    onChange: createReaction(options, keyCheck, openHolds),
    onResync: () => openHolds.renewAll(),
  });

  const insurance = createInsurance(config.guards, clock, options.clockSkewMs);
  const { freeCalls, answers } = openUnbilled(options, { admitConnection, askStore, keyCheck });
  const parts = { askStore, keyCheck, insurance };
  const steps: Billing['steps'] = {
    checkKey: keyCheck.check,
    ...freeCalls,
    answerKeeper: answers.answerKeeper,
    admit: createAdmit(options, { ...parts, admitConnection, openHolds, settleQueue }),
  };
  watchBreakers(
    metrics,
    Array.from({ length: BUCKETS }, (_, bucket) => breakerOf(bucket)),
  );
  metrics.holdsActive.watch((set) => set({}, openHolds.count));
  metrics.settleQueueDepth.watch((set) => set({}, settleQueue.depth));

  return {
    steps,
    canInsure: insurance.canInsure,
    noteMasters(news) {
      if (news.kind === 'changed') settleQueue.replay();
      else settleQueue.noteSame(news.elapsedMs);
    },
    async close() {
      openHolds.close();
      const left = await settleQueue.drain(SETTLE_DRAIN_MAX_MS);
      dropped.add(left);
      if (left > 0)
        log.error({ left }, 'settlements are lost with this worker: their holds expire');
      settleQueue.stop();
      await Promise.all([changes, admitConnection, answers].map((part) => part.close()));
    },
  };
}

type UnbilledParts = Pick<AdmitParts, 'admitConnection' | 'askStore' | 'keyCheck'>;

/** What a key may ask for without paying, and the answers that are kept for its account. */
function openUnbilled(options: BillingOptions, parts: UnbilledParts) {
  const { config, plans } = options;
  const { admitConnection: connection, askStore, keyCheck } = parts;
  const freeCalls = createFreeCalls({ config, plans, connection, askStore, keyCheck });
  const { admitFree } = freeCalls;
  return { freeCalls, answers: openAnswerKeeper({ ...options, keyCheck, admitFree }) };
}

interface AdmitParts {
  readonly admitConnection: RedisConnection;
  readonly askStore: AskStore;
  readonly openHolds: OpenHolds;
  readonly settleQueue: SettleQueue;
  readonly keyCheck: KeyCheck;
  readonly insurance: Insurance;
}

function createAdmit(options: BillingOptions, parts: AdmitParts): Steps['admit'] {
  const { config, books, metrics } = options;
  const { admitConnection, askStore, openHolds, settleQueue, keyCheck, insurance } = parts;
  const { endUsers } = config.limits;
  const count = (outcome: (typeof ADMISSION_OUTCOMES)[number]) =>
    metrics.admissions.at({ outcome }).add(1);
  return createAdmitRequest({
    books,
    askStore,
    admit: createGatheredAdmit(admitConnection),
    async insure(order) {
      const payer = await insurance.insure(order);
      if (payer !== undefined) count('insured');
      return payer;
    },
    openHolds,
    settleQueue,
    windowMs: config.limits.rateWindowMs,
    warnAtShare: config.warnings.atShare,
    usersMax: endUsers.perAccountMax,
    digestEndUser: (name) => digestEndUser(name, endUsers.secret),
    nowMs: createRedisClock(options).nowMs,
    random: Math.random,
    onAsked: createObserveAsked(metrics),
    onReply(order, reply) {
      count(reply.kind);
      keyCheck.noteReply(order.key, reply);
      if (reply.kind === 'admitted') insurance.noteAdmitted(order, reply);
    },
  });
}

/** For what Redis compares with its own clock. */
function createRedisClock({ clock, clockSkewMs }: BillingOptions): Clock {
  return { nowMs: () => clock.nowMs() + clockSkewMs() };
}

/** How a worker reacts to the news that a key or an account was shut. */
function createReaction(options: BillingOptions, keyCheck: KeyCheck, openHolds: OpenHolds) {
  const { metrics, clock, clockSkewMs } = options;
  return (change: Change) => {
    const { subject, id, status } = change;
    observeChange(metrics, change, clock.nowMs() + clockSkewMs());
    if (subject === 'key' && status === 'revoked') {
      keyCheck.noteRevoked(id);
      openHolds.stop((hold) => hold.keyId === id, 'revoked');
    } else if (subject === 'account' && status === 'suspended') {
      openHolds.stop((hold) => hold.accountId === id, 'suspended');
    }
  };
}
