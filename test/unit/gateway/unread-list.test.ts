import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createUnreadList } from '../../../src/gateway/unread-list.ts';

const MIB = 1024 * 1024;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function createAnswer(requestBytes = 0) {
  const answer = { requestBytes, stops: 0, stop: () => {} };
  answer.stop = () => {
    answer.stops += 1;
  };
  return answer;
}

describe('answers that are read on', () => {
  it('are stopped when their time is up, and not once they are over', () => {
    const unread = createUnreadList(1_000);
    const [late, early] = [createAnswer(), createAnswer()];
    unread.begin(late);
    unread.end(unread.begin(early));
    vi.advanceTimersByTime(999);
    expect(late.stops).toBe(0);
    vi.advanceTimersByTime(2);
    expect([late.stops, early.stops]).toEqual([1, 0]);
  });

  it('are 256 of a worker at most, and have room for others when they are over', () => {
    const unread = createUnreadList(1_000);
    const begun = Array.from({ length: 256 }, () => unread.begin(createAnswer()));
    expect(begun).not.toContain(undefined);
    expect(unread.begin(createAnswer())).toBeUndefined();
    unread.end(begun[0]);
    unread.end(begun[0]);
    expect(unread.count).toBe(255);
    expect(unread.begin(createAnswer())).toBeDefined();
    expect(unread.begin(createAnswer())).toBeUndefined();
  });

  it('keep 64 MiB of requests at most, even when those are smaller in the end', () => {
    const unread = createUnreadList(1_000);
    const large = { ...createAnswer(40 * MIB) };
    const place = unread.begin(large);
    expect(unread.begin(createAnswer(25 * MIB))).toBeUndefined();
    large.requestBytes = 0;
    unread.end(place);
    expect(unread.begin(createAnswer(64 * MIB))).toBeDefined();
    expect(unread.begin(createAnswer(1))).toBeUndefined();
  });

  it('are none where that is not wanted, and none after the end', () => {
    expect(createUnreadList(undefined).begin(createAnswer())).toBeUndefined();
    const unread = createUnreadList(1_000);
    const answer = createAnswer();
    unread.begin(answer);
    unread.close();
    expect(answer.stops).toBe(1);
    expect(unread.begin(createAnswer())).toBeUndefined();
  });
});
