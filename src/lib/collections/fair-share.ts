/** Holds a part of something that many strangers share. */
export interface Holder {
  /** Gives back all that it holds, at once. */
  giveWay(): void;
}

/**
 * Each address gets as much as the others leave. If everything is taken, the address that holds the
 * most gives way, with its oldest holder first. So a newcomer is kept out neither by many holders
 * that wait nor by a few that take their time.
 */
export interface FairShare {
  /** Whether there is room for this amount, once others have given way. */
  makeRoom(holder: Holder, address: string, amount: number): boolean;
  /** Makes one holder give way. Returns false if there is none. */
  dropOne(): boolean;
  add(holder: Holder, address: string, amount: number): void;
  /** Removes this amount, or all that the holder has. Does nothing if it holds nothing. */
  remove(holder: Holder, address: string, amount?: number): void;
}

interface AddressShare {
  amount: number;
  /** In the order in which they came. */
  readonly holders: Map<Holder, number>;
}

export function createFairShare(amountMax: number): FairShare {
  const addresses = new Map<string, AddressShare>();
  let heldAmount = 0;

  const findLargest = (): AddressShare | undefined => {
    let largest: AddressShare | undefined;
    for (const held of addresses.values()) {
      if (largest === undefined || held.amount > largest.amount) largest = held;
    }
    return largest;
  };

  return {
    makeRoom(holder, address, amount) {
      while (heldAmount + amount > amountMax) {
        const own = addresses.get(address);
        const largest = findLargest();
        const isOwnTurn = largest === undefined || (own?.amount ?? 0) + amount > largest.amount;
        const oldest = findOldest(isOwnTurn ? own : largest, holder);
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
    add(holder, address, amount) {
      const held = addresses.get(address) ?? { amount: 0, holders: new Map() };
      addresses.set(address, held);
      held.amount += amount;
      held.holders.set(holder, (held.holders.get(holder) ?? 0) + amount);
      heldAmount += amount;
    },
    remove(holder, address, amount) {
      const held = addresses.get(address);
      const own = held?.holders.get(holder);
      if (held === undefined || own === undefined) return;
      const removed = amount ?? own;
      heldAmount -= removed;
      held.amount -= removed;
      if (own > removed) held.holders.set(holder, own - removed);
      else held.holders.delete(holder);
      if (held.holders.size === 0) addresses.delete(address);
    },
  };
}

function findOldest(held: AddressShare | undefined, except?: Holder): Holder | undefined {
  for (const holder of held?.holders.keys() ?? []) if (holder !== except) return holder;
  return undefined;
}
