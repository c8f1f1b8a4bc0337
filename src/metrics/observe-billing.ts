import { creditsOf } from '../lib/units/micros.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { SettleReply } from '../quota/scripts/settle.ts';
import { classifyRedisError } from '../redis/classify-redis-error.ts';
import type { Change } from '../redis/listen-for-changes.ts';
import type { ProcessMetrics } from './process-metrics.ts';

/** Observes how long a worker asks before a request may continue, and how often in vain. */
export function createObserveAsked(
  metrics: ProcessMetrics,
): (tookMs: number, error?: unknown) => void {
  const seconds = metrics.admissionSeconds.at({});
  const unavailable = metrics.admissions.at({ outcome: 'unavailable' });
  return (tookMs, error) => {
    seconds.observe(tookMs / 1_000);
    if (error instanceof Refusal && error.refusal === 'unavailable') unavailable.add(1);
  };
}

/** Returns the same function, which now counts errors that no repetition will settle. */
export function countFaults<Order>(
  metrics: ProcessMetrics,
  settle: (order: Order) => Promise<SettleReply>,
): (order: Order) => Promise<SettleReply> {
  const faults = metrics.settlements.at({ kind: 'fault' });
  const count = (error: unknown): never => {
    if (classifyRedisError(error) === 'fault') faults.add(1);
    throw error;
  };
  return (order) => settle(order).catch(count);
}

export function createObserveSettled(metrics: ProcessMetrics): (reply: SettleReply) => void {
  const settled = metrics.creditsSettled.at({});
  const settlementsShort = metrics.settlementsShort.at({});
  const creditsShort = metrics.creditsShort.at({});
  return (reply) => {
    metrics.settlements.at({ kind: reply.kind }).add(1);
    // Nothing to add: a repeated settlement was counted the first time.
    if (reply.kind === 'too_old' || reply.kind === 'repeated') return;
    settled.add(creditsOf(Math.max(0, reply.chargedMicros)));
    if (reply.shortMicros <= 0) return;
    settlementsShort.add(1);
    creditsShort.add(creditsOf(reply.shortMicros));
  };
}

/** `redisMs` is the present time by the clock of Redis, which also timed the change. */
export function observeChange(metrics: ProcessMetrics, change: Change, redisMs: number): void {
  const { subject, status, changedMs } = change;
  const isShut = status === 'revoked' || status === 'suspended';
  if (!isShut || changedMs === undefined) return;
  metrics.revocationSeconds.at({ subject }).observe(Math.max(0, redisMs - changedMs) / 1_000);
}
