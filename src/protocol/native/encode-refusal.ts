import type { RefusalEncoder } from '../encode-hybrid-refusal.ts';
import { REFUSALS } from '../refusals.ts';

export const encodeRefusal: RefusalEncoder = (refusal, requestId) =>
  JSON.stringify({
    type: 'error',
    error: {
      type: REFUSALS[refusal.refusal].nativeType,
      message: refusal.message,
      details: refusal.nativeDetails,
    },
    request_id: requestId,
  });
