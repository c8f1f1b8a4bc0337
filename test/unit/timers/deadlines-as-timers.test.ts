import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createDeadlineList, type Deadline } from '../../../src/timers/deadline-list.ts';

const AFTER_MS = 1_600;
const ITEMS = 5;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

interface Step {
  readonly what: 'begin' | 'end';
  readonly item: number;
  readonly passedMs: number;
}

const steps = fc.array(
  fc.record({
    what: fc.constantFrom('begin' as const, 'begin' as const, 'end' as const),
    item: fc.nat(ITEMS - 1),
    passedMs: fc.oneof(fc.nat(40), fc.nat(900)),
  }),
  { maxLength: 30 },
);

/** The time at which each item was due. */
function follow(begin: (item: number) => void, end: (item: number) => void, all: readonly Step[]) {
  for (const { what, item, passedMs } of all) {
    if (what === 'begin') begin(item);
    else end(item);
    vi.advanceTimersByTime(passedMs);
  }
  vi.advanceTimersByTime(2 * AFTER_MS);
}

const sorted = (due: readonly (readonly [number, number])[]) =>
  due.toSorted(([a, itemA], [b, itemB]) => a - b || itemA - itemB);

function followTimers(all: readonly Step[]) {
  const startMs = performance.now();
  const due: [number, number][] = [];
  const timers = new Map<number, NodeJS.Timeout>();
  const end = (item: number) => clearTimeout(timers.get(item));
  const begin = (item: number) => {
    end(item);
    const onDue = () => due.push([performance.now() - startMs, item]);
    timers.set(item, setTimeout(onDue, AFTER_MS));
  };
  follow(begin, end, all);
  return sorted(due);
}

function followList(all: readonly Step[]) {
  const startMs = performance.now();
  const due: [number, number][] = [];
  const list = createDeadlineList<number>({
    afterMs: AFTER_MS,
    nowMs: () => performance.now(),
    onDue: (item) => due.push([performance.now() - startMs, item]),
  });
  const deadlines = new Map<number, Deadline<number>>();
  const begin = (item: number) => {
    const known = deadlines.get(item);
    if (known === undefined) deadlines.set(item, list.add(item));
    else list.renew(known);
  };
  follow(begin, (item) => list.delete(deadlines.get(item)), all);
  return sorted(due);
}

it('items are due when a timer of their own would have rung, however they are renewed and deleted', () => {
  fc.assert(
    fc.property(steps, (all) => {
      expect(followList(all)).toEqual(followTimers(all));
    }),
  );
});
