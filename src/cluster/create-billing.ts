import type { Config } from '../config/config.ts';
import type { Steps } from '../gateway/steps.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { RedisTarget } from '../lib/redis-target.ts';
import { admit } from '../quota/admit.ts';
import { createAdmitRequest } from '../quota/admit-request.ts';
import { createAskStore } from '../quota/ask-store.ts';
import { createOpenHolds, type OpenHolds } from '../quota/open-holds.ts';
import { renew } from '../quota/renew.ts';
import { settle } from '../quota/settle.ts';
import { createSettleQueue } from '../quota/settle-queue.ts';
import type { Settlement } from '../quota/settlement.ts';
import { type Breaker, callThrough, createBreaker } from '../redis/breaker.ts';
import { connectRedis, type RedisConnection } from '../redis/connect-redis.ts';
import { type Change, listenForChanges } from '../redis/listen-for-changes.ts';
import { watchMasters } from '../redis/watch-masters.ts';
import { createBreakers } from './create-breakers.ts';
import { createFreeCalls } from './create-free-calls.ts';
import { createInsurance } from './create-insurance.ts';
import { createKeyCheck, type KeyCheck } from './create-key-check.ts';

/**
 * A client waits for these, so two attempts fit into its patience. Shorter ones would fail where it is this
 * process that is late: a timer that is due runs before the reply that is there is read.
 */
const ADMIT_TIMEOUT_MS = 700;
/** How long the end of a worker may wait for the store and the primary. */
const SETTLE_DRAIN_MAX_MS = 3_000;

interface BillingOptions {
  readonly config: Config;
  readonly target: RedisTarget;
  /** Distinguishes this worker's connections in the store's own list. */
  readonly name: string;
  /** For everything that no client waits for. */
  readonly redis: RedisConnection;
  readonly breaker: Breaker;
  /** Resolves when the primary has them on its disk. */
  readonly handOver: (settlements: readonly Settlement[]) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Billing {
  readonly steps: Pick<Steps, 'checkKey' | 'admit' | 'identify' | 'describeKey'>;
  /** Settles what is open, or hands it over. No request may run any more. */
  close(): Promise<void>;
}

/** A worker's side of keys, limits and credits: the steps of the spine, and what goes on behind them. */
export function createBilling(options: BillingOptions): Billing {
  const { config, target, name, redis, breaker, clock, log } = options;
  const random = Math.random;
  const connection = { target, name: `${name}-admit`, commandTimeoutMs: ADMIT_TIMEOUT_MS, log };
  const admitConnection = connectRedis(connection);
  const insurance = createInsurance(config.guards, clock);
  const keyCheck = createKeyCheck(config.guards, clock);
  const breakerOf = createBreakers(target, breaker, () => createBreaker({ clock, random }));
  const askStore = createAskStore({ breakerOf, clock, random });
  const openHolds = createOpenHolds({
    renew: (hold, state) => callThrough(breakerOf(hold.bucket), () => renew(redis, hold, state)),
    clock,
    log,
  });
  const settleQueue = createSettleQueue({
    settle: (settlement) => settle(redis, settlement),
    handOver: options.handOver,
    onSettled: () => {},
    clock,
    random,
    log,
  });

  const changes = listenForChanges({
    target,
    name: `${name}-changes`,
    log,
    onChange: createReaction(keyCheck, openHolds),
    onResync: () => openHolds.renewAll(),
  });
  const masters = watchMasters({ connection: redis, log, onChange: () => settleQueue.replay() });

  const steps: Billing['steps'] = {
    checkKey: keyCheck.check,
    ...createFreeCalls({ config, connection: admitConnection, askStore, keyCheck }),
    admit: createAdmitRequest({
      askStore,
      admit: (order) => admit(admitConnection, order),
      insure: insurance.insure,
      openHolds,
      settleQueue,
      plans: config.plans,
      windowMs: config.limits.rateWindowMs,
      nowMs: () => clock.nowMs(),
      onReply(order, reply) {
        keyCheck.noteReply(order.key, reply.kind);
        if (reply.kind === 'admitted') insurance.noteAdmitted(order, reply);
      },
    }),
  };

  return {
    steps,
    async close() {
      masters.stop();
      openHolds.close();
      const left = await settleQueue.drain(SETTLE_DRAIN_MAX_MS);
      if (left > 0)
        log.error({ left }, 'settlements are lost with this worker: their holds expire');
      settleQueue.stop();
      await Promise.all([changes.close(), admitConnection.close()]);
    },
  };
}

/** What a worker does when it hears that a key or an account was shut. */
function createReaction(keyCheck: KeyCheck, openHolds: OpenHolds) {
  return ({ subject, id, status }: Change) => {
    if (subject === 'key' && status === 'revoked') {
      keyCheck.noteRevoked(id);
      openHolds.stop((hold) => hold.keyId === id, 'revoked');
    } else if (subject === 'account' && status === 'suspended') {
      openHolds.stop((hold) => hold.accountId === id, 'suspended');
    }
  };
}
