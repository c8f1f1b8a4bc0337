import { getHeapStatistics } from 'node:v8';
import { beforeEach, expect, it, vi } from 'vitest';
import { compactHeapLater, keepHeapCompact } from '../../src/bookkeeping/compact-heap.ts';

const CHECK_MS = 10_000;
const AFTER_START_MS = 60_000;
const MEGABYTE = 1_024 ** 2;

interface Small {
  readonly text: string;
}

const readHeapBytes = () => getHeapStatistics().total_heap_size;

/** Of 40 to 80 MB, by the version of V8. */
const makeSmall = (): Small[] =>
  Array.from({ length: 1_000_000 }, (_, index) => ({ text: `object ${index}` }));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout'] });
  return () => vi.useRealTimers();
});

it('gives back what is needed no more, also between objects that are', () => {
  let all: Small[] = makeSmall();
  // One object of fifty in each page of the heap keeps the page from being given back.
  const kept = all.filter((_, index) => index % 50 === 0);
  const fullBytes = readHeapBytes();
  all = [];
  compactHeapLater();
  expect(readHeapBytes()).toBeGreaterThan(fullBytes - MEGABYTE);
  vi.advanceTimersByTime(AFTER_START_MS);
  expect(readHeapBytes()).toBeLessThan(fullBytes - 25 * MEGABYTE);
  expect(kept[1]?.text).toBe('object 50');
});

it('is done again when the heap has grown, and not before', () => {
  keepHeapCompact();
  const compactBytes = readHeapBytes();
  let all: Small[] = makeSmall();
  const grownBytes = readHeapBytes();
  expect(grownBytes).toBeGreaterThan(compactBytes + 25 * MEGABYTE);
  expect(all).toHaveLength(1_000_000);
  all = [];
  vi.advanceTimersByTime(CHECK_MS);
  const againBytes = readHeapBytes();
  expect(againBytes).toBeLessThan(grownBytes - 25 * MEGABYTE);

  const few = Array.from({ length: 1_000 }, (_, index) => ({ text: `object ${index}` }));
  const beforeBytes = readHeapBytes();
  vi.advanceTimersByTime(CHECK_MS);
  expect(readHeapBytes()).toBeGreaterThanOrEqual(beforeBytes);
  expect(few).toHaveLength(1_000);
});
