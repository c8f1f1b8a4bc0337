import { randomBytes } from 'node:crypto';
import {
  createOperatorDirectory,
  type OperatorDirectory,
} from '../accounts/operators/operator-directory.ts';
import { createSessions, type Sessions } from '../accounts/operators/sessions.ts';
import type { Config } from '../config/config.ts';
import type { FleetLine } from '../fleet/fleet-line.ts';
import type { Clock } from '../lib/time/clock.ts';
import { type CallerMemory, createCallerMemory } from '../ops/access/caller-memory.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';

/** Who may use the admin API, according to Redis. */
export interface OperatorAccess {
  readonly operators: OperatorDirectory;
  readonly sessions: Sessions;
  readonly callers: CallerMemory;
  /** Learns on the line of the fleet who was revoked on other nodes. */
  hear(line: Pick<FleetLine, 'onMessage' | 'onOpen' | 'onLost'>): void;
}

interface OperatorAccessOptions {
  readonly connection: RedisConnection;
  readonly oidc: Config['ops']['oidc'];
  readonly clock: Clock;
  readonly masterClock: Clock;
}

export function openOperatorAccess(options: OperatorAccessOptions): OperatorAccess {
  const { connection, oidc, clock, masterClock } = options;
  const callers = createCallerMemory(clock);
  // Without a provider no session is opened.
  const { sessionMs: lifeMs = 0, sessionIdleMs: idleMs = 0 } = oidc ?? {};
  return {
    operators: createOperatorDirectory({ connection, randomBytes, clock, masterClock }),
    sessions: createSessions({ connection, randomBytes, clock, masterClock, lifeMs, idleMs }),
    callers,
    hear(line) {
      line.onMessage('access', callers.forgetAll);
      line.onOpen(() => callers.setHearing(true));
      line.onLost(() => callers.setHearing(false));
    },
  };
}
