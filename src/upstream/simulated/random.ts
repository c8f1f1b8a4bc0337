import { createHash } from 'node:crypto';

/** A number from 0 up to but not including 1. Each call returns the next one. */
export type Random = () => number;

/** Equal seeds give equal numbers, on every machine. */
export function createRandom(...seed: readonly (string | number)[]): Random {
  let state = createHash('sha256').update(JSON.stringify(seed)).digest().readUInt32LE();
  // mulberry32: one word of state, and good enough for texts.
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function pickOne<Item>(items: readonly [Item, ...Item[]], random: Random): Item {
  return items[Math.floor(random() * items.length)] ?? items[0];
}

/** A whole number from `min` to `max`, both included. */
export function pickInteger(min: number, max: number, random: Random): number {
  return min + Math.floor(random() * (max - min + 1));
}
