import type { Log } from '../lib/log.ts';

export interface ReasonLog extends Log {
  /** Why the connection was last lost, or could not be made. */
  lastReason(): string | undefined;
}

/** Connections report why they fail only to their log. `log`, if given, gets the reasons too. */
export function createReasonLog(log?: Log): ReasonLog {
  let last: string | undefined;
  const at =
    (level: keyof Log): Log['warn'] =>
    (fields, message) => {
      const { reason } = fields;
      if (typeof reason === 'string') last = reason;
      log?.[level](fields, message);
    };
  return {
    ...{ debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    lastReason: () => last,
  };
}
