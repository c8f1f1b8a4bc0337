/** A body that takes up memory. */
export interface HeldBody {
  /** The address that it is counted against, until it is complete; `undefined` for a client that is known. */
  readonly stranger: string | undefined;
  /** Frees its memory and tells its client to come again. */
  giveWay(): void;
}

/** What bodies of strangers take up together. */
export interface StrangerShare {
  /** Whether there is so much more for the body, once others have given way. */
  makeRoom(body: HeldBody, address: string, bytes: number): boolean;
  /** Makes one body give way; false when there is none. */
  dropOne(): boolean;
  add(body: HeldBody, address: string, bytes: number): void;
  /** All that the body has, if it names no number. */
  remove(body: HeldBody, address: string, bytes?: number): void;
}

interface Held {
  bytes: number;
  /** In the order of their first bytes. */
  readonly bodies: Map<HeldBody, number>;
}

/**
 * Each address gets as much of the share as the others leave: where it is full, the address that holds the most
 * gives way, with its oldest body first. So neither many who wait nor few who send slowly keep out a newcomer
 * who sends what it announced.
 */
export function createStrangerShare(bytesMax: number): StrangerShare {
  const addresses = new Map<string, Held>();
  let heldBytes = 0;

  const findLargest = (): Held | undefined => {
    let largest: Held | undefined;
    for (const held of addresses.values()) {
      if (largest === undefined || held.bytes > largest.bytes) largest = held;
    }
    return largest;
  };

  return {
    makeRoom(body, address, bytes) {
      while (heldBytes + bytes > bytesMax) {
        const own = addresses.get(address);
        const largest = findLargest();
        const isOwnTurn = largest === undefined || (own?.bytes ?? 0) + bytes >= largest.bytes;
        const oldest = findOldest(isOwnTurn ? own : largest, body);
        if (oldest === undefined) return false;
        oldest.giveWay();
      }
      return true;
    },
    dropOne() {
      const oldest = findOldest(findLargest());
      oldest?.giveWay();
      return oldest !== undefined;
    },
    add(body, address, bytes) {
      const held = addresses.get(address) ?? { bytes: 0, bodies: new Map() };
      addresses.set(address, held);
      held.bytes += bytes;
      held.bodies.set(body, (held.bodies.get(body) ?? 0) + bytes);
      heldBytes += bytes;
    },
    remove(body, address, bytes) {
      const held = addresses.get(address);
      const own = held?.bodies.get(body);
      if (held === undefined || own === undefined) return;
      const removed = bytes ?? own;
      heldBytes -= removed;
      held.bytes -= removed;
      if (own > removed) held.bodies.set(body, own - removed);
      else held.bodies.delete(body);
      if (held.bodies.size === 0) addresses.delete(address);
    },
  };
}

function findOldest(held: Held | undefined, except?: HeldBody): HeldBody | undefined {
  for (const body of held?.bodies.keys() ?? []) if (body !== except) return body;
  return undefined;
}
