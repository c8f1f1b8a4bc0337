import { randomBytes } from 'node:crypto';
import {
  createOperatorDirectory,
  type OperatorDirectory,
} from '../accounts/operators/operator-directory.ts';
import { createSessions, type Sessions } from '../accounts/operators/sessions.ts';
import type { RedisTarget } from '../lib/address/redis-target.ts';
import type { Log } from '../lib/log.ts';
import type { Clock } from '../lib/time/clock.ts';
import { type CallerMemory, createCallerMemory } from '../ops/access/caller-memory.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';
import { listenForChanges } from '../redis/listen-for-changes.ts';

/** Who may use the admin API, by what Redis has. */
export interface OperatorAccess {
  readonly operators: OperatorDirectory;
  readonly sessions: Sessions;
  readonly callers: CallerMemory;
  close(): Promise<void>;
}

interface OperatorAccessOptions {
  readonly target: RedisTarget;
  readonly connection: RedisConnection;
  readonly sessionMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Hears on a connection of its own who was revoked on other nodes. */
export function openOperatorAccess(options: OperatorAccessOptions): OperatorAccess {
  const { target, connection, sessionMs, clock, log } = options;
  const callers = createCallerMemory(clock);
  const changes = listenForChanges({
    ...{ target, name: 'primary-changes', log },
    onChange({ subject }) {
      if (subject === 'operator' || subject === 'session') callers.forgetAll();
    },
    onResync: () => callers.setHearing(true),
    onLost: () => callers.setHearing(false),
  });
  return {
    operators: createOperatorDirectory({ connection, randomBytes, clock }),
    sessions: createSessions({ connection, randomBytes, clock, lifeMs: sessionMs }),
    callers,
    close: () => changes.close(),
  };
}
