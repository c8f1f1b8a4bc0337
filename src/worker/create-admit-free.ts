import type { Config } from '../config/config.ts';
import { createFreeCallGuard } from '../guards/free-call-guard.ts';
import { retryAfterHeaders } from '../protocol/rates/retry-after-headers.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { ProveKey } from './prove-key.ts';

/**
 * Admits requests that cost nothing: the key must be good, and its requests within the limit per
 * minute.
 */
export function createAdmitFree(prove: ProveKey, guards: Config['guards']): ProveKey {
  const freeCalls = createFreeCallGuard({ perMinuteMax: guards.freeCallsPerMinuteMax });
  return async (key) => {
    const waitMs = await freeCalls.take(key.digest);
    if (waitMs > 0) {
      throw new Refusal(
        'rate_limited',
        `At most ${guards.freeCallsPerMinuteMax} requests per minute that cost nothing.`,
        { headers: retryAfterHeaders(waitMs) },
      );
    }
    return prove(key);
  };
}
