export interface Fifo<Item> extends Iterable<Item> {
  readonly size: number;
  push(item: Item): void;
  /** Undefined if the queue is empty. */
  first(): Item | undefined;
  /** Undefined if the queue is empty. */
  shift(): Item | undefined;
}

/** With fewer gaps than this, copying does not pay. */
const GAPS_MIN = 1_024;

/** A queue that is cheap at any length. `Array.shift` would move all remaining items each time. */
export function createFifo<Item>(): Fifo<Item> {
  let items: (Item | undefined)[] = [];
  let head = 0;
  return {
    get size() {
      return items.length - head;
    },
    push(item) {
      items.push(item);
    },
    first: () => items[head],
    shift() {
      if (head === items.length) return undefined;
      const item = items[head];
      items[head] = undefined;
      head++;
      if (head >= GAPS_MIN && head * 2 >= items.length) {
        items = items.slice(head);
        head = 0;
      }
      return item;
    },
    *[Symbol.iterator]() {
      for (let i = head; i < items.length; i++) yield items[i] as Item;
    },
  };
}
