import { afterEach, expect, test, vi } from 'vitest';
import type { IngestReport } from '../../../src/bookkeeping/thread-messages.ts';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { watchBooksRoom } from '../../../src/primary/watch-books.ts';

const MAX = 1_000;
const LOOK_MS = 1_000;

afterEach(() => void vi.useRealTimers());

/** Tells what the workers hear when this many entries wait. */
function watchRoom() {
  vi.useFakeTimers();
  const text = `books: {waiting_entries_max: ${MAX}}\n`;
  const config = parseConfig({ path: undefined, text, env: {} });
  let waitingEntries: number | undefined;
  let told: boolean | undefined;
  const report = () => ({ waitingEntries }) as IngestReport;
  watchBooksRoom(
    { report },
    () => config,
    (isFull) => {
      told = isFull;
    },
  );
  return (waiting: number | undefined, looks = 1) => {
    waitingEntries = waiting;
    vi.advanceTimersByTime(looks * LOOK_MS);
    return told;
  };
}

test('the books are full above the maximum, and until a tenth of it has gone', () => {
  const isFull = watchRoom();
  expect([isFull(MAX), isFull(MAX + 1), isFull(901), isFull(900)]).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

test('full books stay full while a thread starts again, but not while nobody can count', () => {
  const isFull = watchRoom();
  expect(isFull(MAX + 1)).toBe(true);
  expect(isFull(undefined, 59)).toBe(true);
  expect(isFull(undefined, 2)).toBe(false);
  expect(isFull(MAX + 1)).toBe(true);
});
