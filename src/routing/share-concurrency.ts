/** What one worker, counted from 1, has of a node's places: the first ones have what is left over, none has less than 1. */
export function shareConcurrency(concurrencyMax: number, worker: number, workers: number): number {
  const leftOver = worker <= concurrencyMax % workers ? 1 : 0;
  return Math.max(Math.floor(concurrencyMax / workers) + leftOver, 1);
}
