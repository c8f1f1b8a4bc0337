import type { Steps } from '../gateway/steps.ts';
import { creditsOf } from '../lib/micros.ts';
import type { Metrics } from '../metrics/create-metrics.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { SettleReply } from '../quota/settle.ts';
import { classifyRedisError } from '../redis/classify-redis-error.ts';
import type { Change } from '../redis/listen-for-changes.ts';

/** The same step, timed. What the store said is counted where it is heard. */
export function observeAdmissions(metrics: Metrics, admit: Steps['admit']): Steps['admit'] {
  const seconds = metrics.admissionSeconds.at({});
  const unavailable = metrics.admissions.at({ outcome: 'unavailable' });
  return async (order) => {
    const startedMs = performance.now();
    try {
      return await admit(order);
    } catch (error) {
      if (error instanceof Refusal && error.refusal === 'unavailable') unavailable.add(1);
      throw error;
    } finally {
      seconds.observe((performance.now() - startedMs) / 1_000);
    }
  };
}

/** The same, which counts what no repetition will settle. */
export function countFaults<Order>(
  metrics: Metrics,
  settle: (order: Order) => Promise<SettleReply>,
): (order: Order) => Promise<SettleReply> {
  const faults = metrics.settlements.at({ kind: 'fault' });
  return async (order) => {
    try {
      return await settle(order);
    } catch (error) {
      if (classifyRedisError(error) === 'fault') faults.add(1);
      throw error;
    }
  };
}

export function createObserveSettled(metrics: Metrics): (reply: SettleReply) => void {
  const settled = metrics.creditsSettled.at({});
  const settlementsShort = metrics.settlementsShort.at({});
  const creditsShort = metrics.creditsShort.at({});
  return (reply) => {
    metrics.settlements.at({ kind: reply.kind }).add(1);
    // What was only repeated has been counted by whoever did it first.
    if (reply.kind === 'too_old' || reply.kind === 'repeated') return;
    settled.add(creditsOf(Math.max(0, reply.chargedMicros)));
    if (reply.shortMicros <= 0) return;
    settlementsShort.add(1);
    creditsShort.add(creditsOf(reply.shortMicros));
  };
}

/** `redisMs` is the time of now by the clock of Redis, which is that of the change. */
export function observeChange(metrics: Metrics, change: Change, redisMs: number): void {
  const { subject, status, changedMs } = change;
  const isShut = status === 'revoked' || status === 'suspended';
  if (!isShut || changedMs === undefined) return;
  metrics.revocationSeconds.at({ subject }).observe(Math.max(0, redisMs - changedMs) / 1_000);
}
