import { REFUSALS, type Refusal } from './refusals.ts';

/** How a refusal is written for one kind of client. */
export type RefusalEncoder = (refusal: Refusal, requestId: string) => string;

/**
 * Writes the body of a refusal for paths that both families of clients use: each finds its own
 * fields in it.
 */
export const encodeHybridRefusal: RefusalEncoder = (refusal, requestId) => {
  const kind = REFUSALS[refusal.refusal];
  return JSON.stringify({
    type: 'error',
    error: {
      type: kind.nativeType,
      message: refusal.message,
      param: refusal.param,
      code: kind.chatCode,
    },
    request_id: requestId,
  });
};
