import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAnswerDrains } from '../../../src/gateway/answer-drains.ts';

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
    const drains = createAnswerDrains(1_000);
    const [late, early] = [createAnswer(), createAnswer()];
    drains.begin(late);
    drains.end(drains.begin(early));
    vi.advanceTimersByTime(999);
    expect(late.stops).toBe(0);
    vi.advanceTimersByTime(2);
    expect([late.stops, early.stops]).toEqual([1, 0]);
  });

  it('are 256 of a worker at most, and have room for others when they are over', () => {
    const drains = createAnswerDrains(1_000);
    const begun = Array.from({ length: 256 }, () => drains.begin(createAnswer()));
    expect(begun).not.toContain(undefined);
    expect(drains.begin(createAnswer())).toBeUndefined();
    drains.end(begun[0]);
    drains.end(begun[0]);
    expect(drains.count).toBe(255);
    expect(drains.begin(createAnswer())).toBeDefined();
    expect(drains.begin(createAnswer())).toBeUndefined();
  });

  it('keep 64 MiB of requests at most, even when those are smaller in the end', () => {
    const drains = createAnswerDrains(1_000);
    const large = { ...createAnswer(40 * MIB) };
    const drain = drains.begin(large);
    expect(drains.begin(createAnswer(25 * MIB))).toBeUndefined();
    large.requestBytes = 0;
    drains.end(drain);
    expect(drains.begin(createAnswer(64 * MIB))).toBeDefined();
    expect(drains.begin(createAnswer(1))).toBeUndefined();
  });

  it('are none where that is not wanted, and none after the end', () => {
    expect(createAnswerDrains(undefined).begin(createAnswer())).toBeUndefined();
    const drains = createAnswerDrains(1_000);
    const answer = createAnswer();
    drains.begin(answer);
    drains.close();
    expect(answer.stops).toBe(1);
    expect(drains.begin(createAnswer())).toBeUndefined();
  });
});
