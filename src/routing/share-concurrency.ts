/**
 * One worker's share of a node's places. Slots are counted from 1. The first ones get what is
 * left over, and none gets less than 1.
 */
export function shareConcurrency(concurrencyMax: number, slot: number, workers: number): number {
  const leftOver = slot <= concurrencyMax % workers ? 1 : 0;
  return Math.max(Math.floor(concurrencyMax / workers) + leftOver, 1);
}
