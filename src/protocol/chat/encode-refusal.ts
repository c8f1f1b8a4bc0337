import type { RefusalEncoder } from '../encode-hybrid-refusal.ts';
import { REFUSALS } from '../refusals.ts';

/** The request id is not in the body: clients of this format read it from the headers. */
export const encodeRefusal: RefusalEncoder = (refusal) => {
  const kind = REFUSALS[refusal.refusal];
  return JSON.stringify({
    error: {
      message: refusal.chatMessage,
      type: kind.chatType,
      param: refusal.param,
      code: refusal.chatCode,
    },
  });
};
