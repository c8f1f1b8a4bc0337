import type { Clock } from '../../lib/time/clock.ts';
import type { HttpConnection } from './http-connection.ts';

/** Connections that wait for a request. */
export interface IdleConnections {
  add(connection: HttpConnection, keepMs: number): void;
  /** Takes the connection that was used last, so the others may grow old and close. */
  take(): HttpConnection | undefined;
  remove(connection: HttpConnection): void;
  destroyAll(): void;
}

interface IdleConnection {
  readonly connection: HttpConnection;
  readonly sinceMs: number;
  readonly keepMs: number;
}

const SWEEP_INTERVAL_MS = 1_000;

export function createIdleConnections(clock: Clock): IdleConnections {
  let idle: IdleConnection[] = [];
  let isSweepDue = false;

  const isFresh = ({ sinceMs, keepMs }: IdleConnection) => {
    const ageMs = clock.nowMs() - sinceMs;
    // A clock that is set back must not keep a connection for longer.
    return ageMs >= 0 && ageMs < keepMs;
  };

  const sweep = () => {
    const stale = idle.filter((entry) => !isFresh(entry));
    for (const { connection } of stale) connection.destroy();
    isSweepDue = false;
    planSweep();
  };

  const planSweep = () => {
    if (isSweepDue || idle.length === 0) return;
    isSweepDue = true;
    setTimeout(sweep, SWEEP_INTERVAL_MS).unref();
  };

  return {
    add(connection, keepMs) {
      idle.push({ connection, sinceMs: clock.nowMs(), keepMs });
      planSweep();
    },
    take() {
      for (let last = idle.pop(); last !== undefined; last = idle.pop()) {
        if (isFresh(last)) return last.connection;
        last.connection.destroy();
      }
      return undefined;
    },
    remove(connection) {
      idle = idle.filter((entry) => entry.connection !== connection);
    },
    destroyAll() {
      for (const { connection } of [...idle]) connection.destroy();
    },
  };
}
