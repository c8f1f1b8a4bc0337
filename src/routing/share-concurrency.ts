/**
 * One worker's share of a node's places. Workers are counted from 1. The first ones get what is
 * left over, and none gets less than 1.
 */
export function shareConcurrency(concurrencyMax: number, worker: number, workers: number): number {
  const leftOver = worker <= concurrencyMax % workers ? 1 : 0;
  return Math.max(Math.floor(concurrencyMax / workers) + leftOver, 1);
}
