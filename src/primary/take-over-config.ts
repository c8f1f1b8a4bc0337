import type { RollOrder, Supervisor } from '../supervise/supervise-workers.ts';
import type { ConfigInUse } from './read-next-config.ts';

/** A roll is in no hurry: idle connections stay open until the time-out that closes them anyway. */
const ROLL_LINGER_MS = 13_000;

interface TakeOverOptions {
  readonly workers: Pick<Supervisor, 'roll'>;
  readonly previous: ConfigInUse;
  readonly next: ConfigInUse;
  /** Workers that start after this call get these settings. */
  readonly use: (inUse: ConfigInUse) => void;
  /** The same for settings that were in use before. They are in use again even if it throws. */
  readonly restore: (inUse: ConfigInUse) => void;
}

/**
 * Replaces every worker. If a new worker does not start, those that have the new settings already
 * are replaced again, with the previous ones. A worker that is started in place of one that dies
 * meanwhile has the new settings too, even if no other worker was replaced.
 */
export async function takeOverConfig(options: TakeOverOptions): Promise<void> {
  const { workers, previous, next, use, restore } = options;
  use(next);
  const order = createOrder(previous, next);
  const { replaced, failure } = await workers.roll(next.config.workers, order);
  if (failure === undefined) return;
  const reasons: Error[] = [failure];
  try {
    restore(previous);
  } catch (error) {
    reasons.push(error instanceof Error ? error : new Error(String(error)));
  }
  if (replaced > 0) {
    const undone = await workers.roll(previous.config.workers, { ...order, isUndo: true });
    if (undone.failure !== undefined) reasons.push(undone.failure);
  }
  if (reasons.length === 1) throw failure;
  const message = reasons.map((reason) => reason.message).join('; and then: ');
  throw new AggregateError(reasons, message);
}

/**
 * Nothing waits for a replaced worker, so each may finish what it has begun, with either settings:
 * at first tries in vain, then an answer of full length, and then its cost without a client.
 */
function createOrder(previous: ConfigInUse, next: ConfigInUse): RollOrder {
  const configs = [previous.config, next.config];
  const hurriedMs = Math.max(...configs.map(({ drain }) => drain.timeoutMs));
  const upstreams = configs.flatMap((config) => config.upstreams);
  const answerMaxMs = Math.max(0, ...upstreams.map(({ timeouts }) => timeouts.totalMs));
  const unreadMaxMs = Math.max(...configs.map(({ onLeave }) => onLeave.timeoutMs));
  return {
    timeoutMs: answerMaxMs + unreadMaxMs + hurriedMs,
    ...{ hurriedMs, lingerMs: ROLL_LINGER_MS, isUndo: false },
  };
}
