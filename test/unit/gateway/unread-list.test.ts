import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createUnreadList,
  type UnreadList,
  type UnreadPlace,
} from '../../../src/gateway/unread-list.ts';

const MIB = 1024 * 1024;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function createAnswer(requestBytes = 0, accountId = 'a') {
  const answer = { requestBytes, accountId, stops: 0, stop: () => {} };
  answer.stop = () => {
    answer.stops += 1;
  };
  return answer;
}

/** An answer that gives its place back when it is stopped, as all in use do. */
function begin(unread: UnreadList, requestBytes = 0, accountId = 'a') {
  const answer = createAnswer(requestBytes, accountId);
  let place: UnreadPlace | undefined;
  answer.stop = () => {
    answer.stops += 1;
    unread.end(place);
  };
  place = unread.begin(answer);
  return { answer, place };
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

  it('are 256 of a worker at most, and the oldest of who has the most gives way', () => {
    const unread = createUnreadList(1_000);
    const dear = begin(unread, 0, 'b');
    const cheap = Array.from({ length: 255 }, () => begin(unread));
    unread.end(cheap[0]?.place);
    unread.end(cheap[0]?.place);
    expect(unread.count).toBe(255);
    begin(unread);
    const others = [begin(unread, 0, 'b'), begin(unread, 0, 'c'), begin(unread)];
    expect(others.map(({ place }) => place)).not.toContain(undefined);
    expect(unread.count).toBe(256);
    expect([dear, ...others].map(({ answer }) => answer.stops)).toEqual([0, 0, 0, 0]);
    expect(cheap.slice(0, 5).map(({ answer }) => answer.stops)).toEqual([0, 1, 1, 1, 0]);
  });

  it('keep 64 MiB of requests at most, even when those are smaller in the end', () => {
    const unread = createUnreadList(1_000);
    const large = begin(unread, 40 * MIB, 'b');
    large.answer.requestBytes = 0;
    unread.end(large.place);
    const [largest, small] = [begin(unread, 63 * MIB), begin(unread, MIB, 'b')];
    expect(unread.begin(createAnswer(65 * MIB))).toBeUndefined();
    expect(begin(unread, MIB, 'c').place).toBeDefined();
    expect([largest.answer.stops, small.answer.stops]).toEqual([1, 0]);
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
