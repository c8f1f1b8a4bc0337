import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDeadlineList } from '../../../src/timers/deadline-list.ts';

const AFTER_MS = 1_600;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function create() {
  const due: string[] = [];
  const list = createDeadlineList<string>({
    afterMs: AFTER_MS,
    nowMs: () => performance.now(),
    onDue: (item) => due.push(item),
  });
  return { list, due };
}

describe('a list of deadlines', () => {
  it('counts from the last renewal, however little came before it', () => {
    const { list, due } = create();
    const deadline = list.add('a');
    // Some renewals keep the item's place in the list, others do not.
    for (const passedMs of [10, 400]) {
      vi.advanceTimersByTime(passedMs);
      list.renew(deadline);
      vi.advanceTimersByTime(10);
      list.renew(deadline);
    }
    vi.advanceTimersByTime(AFTER_MS - 2);
    expect(due).toEqual([]);
    vi.advanceTimersByTime(4);
    expect(due).toEqual(['a']);
  });

  it('has one timer, also if what is due is added again', () => {
    const added: string[] = [];
    const list = createDeadlineList<string>({
      afterMs: AFTER_MS,
      nowMs: () => performance.now(),
      onDue(item) {
        added.push(item);
        list.add(item);
      },
    });
    for (const item of ['a', 'b', 'c']) {
      list.add(item);
      vi.advanceTimersByTime(100);
    }
    vi.advanceTimersByTime(20 * AFTER_MS);
    expect(vi.getTimerCount()).toBe(1);
    expect(added.length).toBeGreaterThan(50);
  });

  it('keeps the order of its items when one is renewed', () => {
    const { list, due } = create();
    const renewed = list.add('renewed');
    list.add('first');
    vi.advanceTimersByTime(20);
    list.renew(renewed);
    vi.advanceTimersByTime(20);
    list.add('last');
    vi.advanceTimersByTime(2 * AFTER_MS);
    expect(due).toEqual(['first', 'renewed', 'last']);
  });

  it('gives away the item that would be due first', () => {
    const { list, due } = create();
    for (const item of ['a', 'b']) list.add(item);
    expect(list.takeFirst()).toBe('a');
    vi.advanceTimersByTime(2 * AFTER_MS);
    expect(due).toEqual(['b']);
    expect(list.takeFirst()).toBeUndefined();
  });

  it('takes a renewed item back that was deleted', () => {
    const { list, due } = create();
    const deadline = list.add('a');
    list.delete(deadline);
    vi.advanceTimersByTime(2 * AFTER_MS);
    expect(due).toEqual([]);
    list.renew(deadline);
    vi.advanceTimersByTime(2 * AFTER_MS);
    expect(due).toEqual(['a']);
  });
});
