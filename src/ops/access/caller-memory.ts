import { digestSecret } from '../../accounts/operators/operator-token.ts';
import { type BoundedCache, createBoundedCache } from '../../lib/collections/bounded-cache.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { AdminCaller } from './admin-caller.ts';

/** A revocation that was missed takes effect after this time. */
const KEEP_MS = 5_000;
const CALLERS_MAX = 1_000;

/**
 * Remembers for some seconds whose a token or a cookie is, so that not every call asks Redis. It
 * forgets everybody at each revocation, and remembers nobody while it cannot hear of revocations.
 */
export interface CallerMemory {
  /** Asks unless the caller is remembered. Unknown callers are not remembered. */
  find(
    secret: string,
    ask: (secret: string) => Promise<AdminCaller | undefined>,
  ): Promise<AdminCaller | undefined>;
  /** Somebody was revoked, on any node. */
  forgetAll(): void;
  /** Calls back when somebody was revoked, until the signal fires. */
  onForget(handler: () => void, until: AbortSignal): void;
  /** Whether it hears of revocations on other nodes from now on. */
  setHearing(isHearing: boolean): void;
}

export function createCallerMemory(clock: Clock): CallerMemory {
  const create = (): BoundedCache<AdminCaller> =>
    createBoundedCache({ clock, keepMs: KEEP_MS, entriesMax: CALLERS_MAX });
  let known = create();
  let isHeard = false;
  const handlers = new Set<() => void>();

  return {
    async find(secret, ask) {
      const digest = digestSecret(secret);
      const before = known;
      const remembered = isHeard ? before.get(digest) : undefined;
      if (remembered !== undefined) return remembered;
      const caller = await ask(secret);
      // A revocation in between may be newer than the answer. Then `before` is no longer in use.
      if (caller !== undefined) before.set(digest, caller);
      return caller;
    },
    forgetAll() {
      known = create();
      for (const handle of handlers) handle();
    },
    onForget(handler, until) {
      handlers.add(handler);
      until.addEventListener('abort', () => handlers.delete(handler));
    },
    setHearing(isHearing) {
      isHeard = isHearing;
      known = create();
    },
  };
}
