import { createFairShare, type Holder } from '../lib/collections/fair-share.ts';

/** A body that takes up memory. If it gives way, its client is told to try again. */
export interface BodyHolder extends Holder {
  /**
   * The address that the body counts against until it is complete. `undefined` if the client is
   * known.
   */
  readonly stranger: string | undefined;
}

/**
 * The memory that all bodies of one worker may hold together. Unknown clients may hold a part of
 * it, and their bodies give way to those of known clients.
 */
export interface BodyBudget {
  readonly heldBytes: number;
  /** Whether there is enough room to reserve a body's announced length before its bytes arrive. */
  readonly hasPlenty: boolean;
  /** Whether the body may take this much more memory. */
  take(body: BodyHolder, bytes: number): boolean;
  giveBack(body: BodyHolder, bytes: number): void;
  /**
   * Ends a stranger's claim: its body no longer gives way. Call this before clearing `stranger`.
   */
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
