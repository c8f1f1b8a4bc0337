import type { Log } from '../../lib/log.ts';

const WAITING_MAX = 1_000;
const RETRY_DELAY_MS = 1_000;

type Write = () => Promise<void>;

/** Entries of the audit log that wait for Redis to come back, in order. */
export interface WaitingWrites {
  isEmpty(): boolean;
  /** The write must be safe to repeat. */
  add(write: Write): void;
  /** Tries once more before it ends. */
  close(): Promise<void>;
}

export function createWaitingWrites(log: Log): WaitingWrites {
  const waiting: Write[] = [];
  let retryTimer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;
  let isClosed = false;

  const writeAll = async () => {
    for (let write = waiting[0]; write !== undefined; write = waiting[0]) {
      await write();
      waiting.shift();
    }
  };

  /**
   * Only one flush runs at a time, so that each write is taken out once. A write that fails keeps
   * waiting.
   */
  const flush = () => {
    flushing ??= writeAll()
      .catch(() => {})
      .finally(() => {
        flushing = undefined;
      });
    return flushing;
  };

  const retryLater = () => {
    retryTimer = setTimeout(async () => {
      await flush();
      if (waiting.length > 0 && !isClosed) retryLater();
      else retryTimer = undefined;
    }, RETRY_DELAY_MS);
    retryTimer.unref();
  };

  return {
    isEmpty: () => waiting.length === 0,
    add(write) {
      if (waiting.length === WAITING_MAX) {
        log.error({}, 'the audit log loses an entry: too many wait for Redis');
        return;
      }
      waiting.push(write);
      if (retryTimer === undefined && !isClosed) retryLater();
    },
    async close() {
      isClosed = true;
      clearTimeout(retryTimer);
      await flush();
      const lost = waiting.length;
      if (lost > 0) log.error({ lost }, 'the audit log loses entries: Redis is out');
    },
  };
}
