import type { RefusalEncoder } from '../encode-hybrid-refusal.ts';
import { REFUSALS } from '../refusals.ts';

/** Clients of this format find the request's id in its headers. */
export const encodeRefusal: RefusalEncoder = (refusal) => {
  const kind = REFUSALS[refusal.refusal];
  return JSON.stringify({
    error: {
      message: refusal.chatMessage,
      type: kind.chatType,
      param: refusal.param,
      code: kind.chatCode,
    },
  });
};
