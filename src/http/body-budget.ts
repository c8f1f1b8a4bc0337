import { createFairShare, type Holder } from '../lib/collections/fair-share.ts';

/** A body that takes up memory. To give way it tells its client to come again. */
export interface BodyHolder extends Holder {
  /** The address that it is counted against, until it is complete; `undefined` for a client that is known. */
  readonly stranger: string | undefined;
}

/** Memory that all bodies of one worker may hold together. Strangers have a share of it and give way to the others. */
export interface BodyBudget {
  readonly heldBytes: number;
  /** Whether a length may be believed before its bytes have come. */
  readonly hasPlenty: boolean;
  /** Whether the body may take so much more. */
  take(body: BodyHolder, bytes: number): boolean;
  giveBack(body: BodyHolder, bytes: number): void;
  /** To be called before it is no stranger's any more. */
  adopt(body: BodyHolder): void;
}

interface BodyBudgetLimits {
  readonly heldBytesMax: number;
  readonly strangersHeldBytesMax: number;
}

export function createBodyBudget(limits: BodyBudgetLimits): BodyBudget {
  const { heldBytesMax, strangersHeldBytesMax } = limits;
  const strangers = createFairShare(strangersHeldBytesMax);
  let heldBytes = 0;

  return {
    get heldBytes() {
      return heldBytes;
    },
    get hasPlenty() {
      return heldBytes < heldBytesMax / 2;
    },
    take(body, bytes) {
      const { stranger } = body;
      if (stranger === undefined) {
        while (heldBytes + bytes > heldBytesMax) if (!strangers.dropOne()) return false;
      } else {
        if (heldBytes + bytes > heldBytesMax) return false;
        if (!strangers.makeRoom(body, stranger, bytes)) return false;
        strangers.add(body, stranger, bytes);
      }
      heldBytes += bytes;
      return true;
    },
    giveBack(body, bytes) {
      heldBytes -= bytes;
      if (body.stranger !== undefined) strangers.remove(body, body.stranger, bytes);
    },
    adopt(body) {
      if (body.stranger !== undefined) strangers.remove(body, body.stranger);
    },
  };
}
