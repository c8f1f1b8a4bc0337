import type { DrainOrder } from '../messages/worker-messages.ts';
import type { Supervisor } from '../supervise/supervise-workers.ts';
import type { ConfigInUse } from './read-next-config.ts';

/** A roll is in no hurry: idle connections stay open until the time-out that closes them anyway. */
const ROLL_LINGER_MS = 13_000;

interface TakeOverOptions {
  readonly workers: Pick<Supervisor, 'roll'>;
  readonly previous: ConfigInUse;
  readonly next: ConfigInUse;
  /** Workers that start after this call get these settings. */
  readonly use: (config: ConfigInUse) => void;
}

/**
 * Replaces every worker. If a new worker does not start, those already replaced are replaced again,
 * with the previous settings.
 */
export async function takeOverConfig(options: TakeOverOptions): Promise<void> {
  const { workers, previous, next, use } = options;
  use(next);
  const { replaced, failure } = await workers.roll(next.config.workers, orderOf(next));
  if (failure === undefined) return;
  use(previous);
  if (replaced > 0) {
    const undone = await workers.roll(previous.config.workers, orderOf(previous));
    if (undone.failure !== undefined) {
      const reasons = [failure, undone.failure];
      throw new AggregateError(reasons, `${failure.message}; and then: ${undone.failure.message}`);
    }
  }
  throw failure;
}

function orderOf({ config }: ConfigInUse): DrainOrder {
  return { timeoutMs: config.drain.timeoutMs, lingerMs: ROLL_LINGER_MS };
}
