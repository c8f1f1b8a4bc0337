import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRequestIdMint } from '../../src/lib/request-id.ts';
import { monthOf } from '../../src/lib/time/month.ts';
import type { Admission } from '../../src/protocol/admission.ts';
import { Refusal } from '../../src/protocol/refusals.ts';
import type { Billing } from '../../src/worker/billing.ts';
import type { EventLog } from '../../test/proof/support/event-log.ts';
import type { Random } from '../../test/proof/support/random.ts';
import { NO_LISTS } from '../../test/support/limits/no-lists.ts';
import type { RequestPlans } from '../../test/support/limits/request-plans.ts';
import { DETAILS } from '../../test/support/request-details.ts';
import { type FleetAccount, HELD_MICROS } from './fleet-world.ts';

const mintRequestId = createRequestIdMint(randomBytes);

const NO_USAGE = {
  ...{ input: 10, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 },
  ...{ output: 10, thinking: 0, searches: 0 },
};
/** Shares of requests that last seconds, and those that live through renewals. */
const SLOW_SHARE = 0.1;
const LONG_SHARE = 0.01;

interface AskedKey {
  readonly keyId: string;
  readonly text: string;
}

interface AskOptions {
  readonly steps: Billing['steps'];
  readonly plans: RequestPlans;
  readonly log: EventLog;
}

/** A request that was admitted, until it is settled. */
export interface OpenRequest {
  /** Resolves when the request was told to stop. */
  readonly stopped: Promise<void>;
  settle(micros: number): void;
}

/** Asks as the spine does. Throws the refusal. */
export async function askOnce(
  { steps, plans, log }: AskOptions,
  { keyId, text }: AskedKey,
): Promise<OpenRequest> {
  const authorization = `Bearer ${text}`;
  const header = (name: string) => (name === 'authorization' ? authorization : undefined);
  const key = steps.checkKey({ header, peerAddress: '127.0.0.1' });
  const requestId = mintRequestId(Date.now());
  const rate = { nowMs: 0, limit: 0, left: 0 };
  const askedMs = Date.now();
  let stop: () => void = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const admission: Admission = await steps.admit({
    ...{ key, plans, requestId, modelNames: ['llm-bench-1'], stop },
    ...{ holdMicros: HELD_MICROS, holdLeastMicros: HELD_MICROS, seenMicros: () => 0 },
    ...{ tokens: NO_LISTS.tokens, endUser: '' },
    sendRate: (sent) => Object.assign(rate, sent),
  });
  log.add({
    ...{ type: 'admitted', requestId, keyId, askedMs, repliedMs: Date.now(), isRepeated: false },
    ...{ nowMs: rate.nowMs, limit: rate.limit, left: rate.left },
    ...{ held: admission.heldMicros, month: monthOf(rate.nowMs), extras: '' },
  });
  return {
    stopped,
    settle(micros) {
      log.add({ type: 'settling', requestId, actual: micros });
      const bill = { usage: NO_USAGE, chargeMicros: micros, isEstimated: false };
      admission.settle({ ...bill, isImplausible: false }, DETAILS);
    },
  };
}

export interface NodeLoad {
  readonly open: number;
  /** Ends with all open requests settled. */
  stop(): Promise<void>;
}

interface LoadOptions extends AskOptions {
  readonly pick: () => FleetAccount;
  readonly requestsPerS: number;
  readonly random: Random;
  readonly isOn: () => boolean;
  readonly onRefused: (name: string) => void;
}

/** Requests at random moments, whatever becomes of those before. */
export function startNodeLoad(options: LoadOptions): NodeLoad {
  const { pick, requestsPerS, random, isOn, onRefused } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  // Each open request waits for it.
  setMaxListeners(0, signal);
  const open = new Set<Promise<void>>();

  const lastMs = () => {
    const drawn = random.next();
    if (drawn < LONG_SHARE) return random.int(8_000, 20_000);
    return drawn < SLOW_SHARE ? random.int(500, 2_000) : random.int(10, 300);
  };
  const request = async () => {
    const key = random.pick(pick().keys);
    const micros = random.chance(0.03) ? 0 : random.int(1, HELD_MICROS);
    try {
      const opened = await askOnce(options, key);
      await sleep(lastMs(), undefined, { signal }).catch(() => {});
      opened.settle(micros);
    } catch (error) {
      onRefused(error instanceof Refusal ? error.refusal : String(error));
    }
  };
  const run = async () => {
    while (!signal.aborted) {
      const pauseMs = (-Math.log(1 - random.next()) / requestsPerS) * 1_000;
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
      if (signal.aborted || !isOn()) continue;
      const one = request();
      open.add(one);
      void one.finally(() => open.delete(one));
    }
  };
  const running = run();

  return {
    get open() {
      return open.size;
    },
    async stop() {
      stopping.abort();
      await running;
      await Promise.all(open);
    },
  };
}
