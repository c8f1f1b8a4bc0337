import { createFairShare, type Holder } from '../lib/collections/fair-share.ts';

/** Who sends a body. */
export interface BodyOwner {
  /** The account of a known client. A customer may have many keys. */
  readonly accountId: string | undefined;
  readonly origin: { readonly address: string };
}

/** A body that takes up memory. If it gives way, its client is told to try again. */
export interface BodyHolder extends Holder {
  /**
   * The address that the body counts against until it is complete. `undefined` if the client is
   * known.
   */
  readonly stranger: string | undefined;
  /** The account of a known client. */
  readonly customer: string | undefined;
}

/**
 * The memory that all bodies of one worker may hold together. Unknown clients may hold a part of
 * it, and their bodies give way to those of known clients. A known client gets no more than it
 * leaves to the others, so that one alone gets half.
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
  /**
   * Whether the account may take over a body without an owner. Set `customer` to it afterwards.
   */
  assign(customer: string, bytes: number): boolean;
}

interface BodyBudgetLimits {
  readonly heldBytesMax: number;
  readonly strangersHeldBytesMax: number;
}

export function createBodyBudget(limits: BodyBudgetLimits): BodyBudget {
  const { heldBytesMax, strangersHeldBytesMax } = limits;
  const strangers = createFairShare(strangersHeldBytesMax);
  const bytesOfCustomers = new Map<string, number>();
  let customersHeldBytes = 0;
  let heldBytes = 0;

  const addToCustomer = (customer: string | undefined, bytes: number) => {
    if (customer === undefined) return;
    customersHeldBytes += bytes;
    const ownBytes = (bytesOfCustomers.get(customer) ?? 0) + bytes;
    if (ownBytes > 0) bytesOfCustomers.set(customer, ownBytes);
    else bytesOfCustomers.delete(customer);
  };
  const isFair = (customer: string | undefined, bytes: number) => {
    if (customer === undefined) return true;
    const ownBytes = (bytesOfCustomers.get(customer) ?? 0) + bytes;
    return ownBytes <= heldBytesMax - customersHeldBytes - bytes;
  };

  return {
    get heldBytes() {
      return heldBytes;
    },
    get hasPlenty() {
      return heldBytes < heldBytesMax / 2;
    },
    take(body, bytes) {
      const { stranger, customer } = body;
      if (stranger === undefined) {
        if (!isFair(customer, bytes)) return false;
        while (heldBytes + bytes > heldBytesMax) if (!strangers.dropOne()) return false;
        addToCustomer(customer, bytes);
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
      addToCustomer(body.customer, -bytes);
    },
    adopt(body) {
      if (body.stranger !== undefined) strangers.remove(body, body.stranger);
    },
    assign(customer, bytes) {
      if (!isFair(customer, bytes)) return false;
      addToCustomer(customer, bytes);
      return true;
    },
  };
}
