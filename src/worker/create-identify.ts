import type { Config } from '../config/config.ts';
import { createFreeCallGuard } from '../guards/free-call-guard.ts';
import type { KeyCheck } from '../keys/key-check.ts';
import type { ApiKey } from '../protocol/admission.ts';
import { retryAfterHeaders } from '../protocol/rates/retry-after-headers.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { AskStore } from '../quota/ask-store.ts';
import { refuseAdmission } from '../quota/refuse-admission.ts';
import type { IdentifyReply } from '../quota/scripts/identify.ts';

interface IdentifyOptions {
  readonly askStore: AskStore;
  /** Makes one attempt. */
  readonly identify: (key: ApiKey) => Promise<IdentifyReply>;
  readonly keyCheck: KeyCheck;
  readonly guards: Config['guards'];
}

/**
 * Admits requests that cost nothing: the key must be good, and its requests within the limit per
 * minute.
 */
export function createIdentify(options: IdentifyOptions) {
  const { askStore, identify, keyCheck, guards } = options;
  const freeCalls = createFreeCallGuard({ perMinuteMax: guards.freeCallsPerMinuteMax });
  return async (key: ApiKey) => {
    const waitMs = await freeCalls.take(key.digest);
    if (waitMs > 0) {
      throw new Refusal(
        'rate_limited',
        `At most ${guards.freeCallsPerMinuteMax} requests per minute that cost nothing.`,
        { headers: retryAfterHeaders(waitMs) },
      );
    }
    const reply = await askStore(key.bucket, () => identify(key));
    keyCheck.noteReply(key, reply.kind);
    if (reply.kind !== 'known') {
      throw refuseAdmission({ kind: reply.kind }, { maskedKey: key.masked, model: '' });
    }
    return reply;
  };
}
