import type { Log } from '../../lib/log.ts';

export interface ReasonLog extends Log {
  /** Why the connection was last lost, or could not be made. */
  lastReason(): string | undefined;
}

/** Connections report why they fail only to their log. */
export function createReasonLog(): ReasonLog {
  let last: string | undefined;
  const note: Log['warn'] = (fields) => {
    const { reason } = fields;
    if (typeof reason === 'string') last = reason;
  };
  return { debug: note, info: note, warn: note, error: note, lastReason: () => last };
}
