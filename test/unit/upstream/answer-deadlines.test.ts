import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AnswerPart } from '../../../src/protocol/inference.ts';
import { Refusal } from '../../../src/protocol/refusals.ts';
import { classifyFailure } from '../../../src/routing/upstream-failure.ts';
import { SIGN_OF_LIFE } from '../../../src/upstream/pushed-part.ts';
import { emitAfter, LIMITS, NEVER, PART, pass, start } from './deadlines-support.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  // First: what a spy puts back later is the fake, for all files that this process runs after it.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('an answer that takes too long', () => {
  it('to begin is refused at the deadline for its first event, and the upstream is stopped', async () => {
    const { ask, aborted } = start(emitAfter(NEVER));
    const first = ask();
    await pass(5_999);
    expect(first.got).toBeUndefined();
    await pass(2);
    expect(first.got).toMatchObject({
      status: 504,
      message: 'The upstream did not begin to answer within 6 seconds.',
    });
    expect(aborted).toEqual([first.got]);
    expect(classifyFailure(first.got)?.kind).toBe('slow');
  });

  it('to go on is refused at the deadline for silence, which begins anew at each event', async () => {
    const { ask, aborted } = start(emitAfter(5_000, 1_900, 1_900, NEVER));
    for (const gapMs of [5_000, 1_900, 1_900]) {
      const event = ask();
      await pass(gapMs);
      expect(event.got).toBe('event');
    }
    const last = ask();
    await pass(1_999);
    expect(last.got).toBeUndefined();
    await pass(2);
    expect(last.got).toMatchObject({
      status: 504,
      message: 'The upstream broke off: it said nothing for 2 seconds.',
    });
    expect(aborted).toEqual([last.got]);
    expect(classifyFailure(last.got)?.kind).toBe('slow');
  });

  it('to go on is waited for while it shows that it is alive, within the time of the whole', async () => {
    const { ask, timed } = start(emitAfter(10, NEVER));
    ask();
    await pass(10);
    const next = ask();
    for (let atMs = 10; atMs < 18_500; atMs += 1_900) {
      await pass(1_900);
      expect(next.got).toBeUndefined();
      timed.push(SIGN_OF_LIFE, 1);
    }
    await pass(1_200);
    expect(next.got).toMatchObject({
      message: 'The answer took longer than 20 seconds.',
      headers: { 'x-should-retry': 'false' },
    });
  });

  it('to go on is refused in the middle of an event, however much of that has come', async () => {
    const { ask, timed } = start(emitAfter(10, NEVER));
    ask();
    await pass(10);
    const next = ask();
    await pass(1_900);
    timed.push({ events: [], contentBytes: 0, bytes: undefined }, 1);
    await pass(101);
    expect(next.got).toMatchObject({
      message: 'The upstream broke off: it said nothing for 2 seconds.',
    });
  });

  it('but shows that it is alive is in no haste while its client reads slowly', async () => {
    const { ask, timed, aborted } = start(emitAfter(10, 10));
    ask();
    await pass(10);
    timed.push(SIGN_OF_LIFE, 1);
    await pass(5_000);
    expect(aborted).toEqual([]);
  });

  it('as a whole is refused, however lively it is, and nobody is to blame', async () => {
    const { ask, aborted } = start(emitAfter(...new Array<number>(30).fill(900)));
    for (let n = 1; n <= 22; n += 1) {
      const event = ask();
      await pass(900);
      expect(event.got).toBe('event');
    }
    const last = ask();
    await pass(201);
    expect(last.got).toMatchObject({
      status: 504,
      message: 'The answer took longer than 20 seconds.',
    });
    expect(aborted).toEqual([last.got]);
    expect(classifyFailure(last.got)?.kind).toBe('refused');
  });

  it('as a whole, without even a head, is refused just so, and the upstream is to blame', async () => {
    const limits = { ...LIMITS, firstByteMs: LIMITS.totalMs };
    const { ask, aborted } = start(emitAfter(NEVER), limits, 'unbegun');
    const first = ask();
    await pass(20_001);
    expect(first.got).toMatchObject({
      status: 504,
      message: 'The answer took longer than 20 seconds.',
      headers: { 'x-should-retry': 'false' },
    });
    expect(aborted).toEqual([first.got]);
    expect(classifyFailure(first.got)).toMatchObject({ kind: 'slow', isFinal: true });
  });
});

describe('a client that reads slowly', () => {
  it('is not taken for a silent upstream', async () => {
    const { ask, aborted } = start(emitAfter(10, 10, 10));
    for (let n = 0; n < 3; n += 1) {
      const event = ask();
      await pass(10);
      expect(event.got).toBe('event');
      await pass(5_000);
    }
    expect(aborted).toEqual([]);
    const end = ask();
    await pass(0);
    expect(end.got).toBe('done');
  });

  it('has the whole silence before it from when it asks', async () => {
    const { ask } = start(emitAfter(10, NEVER));
    ask();
    await pass(10);
    await pass(3_500);
    const next = ask();
    await pass(1_999);
    expect(next.got).toBeUndefined();
    await pass(2);
    expect(next.got).toMatchObject({ status: 504 });
  });

  it('is cut off when the whole takes too long, and hears of it when it asks', async () => {
    const { ask, aborted } = start(emitAfter(10, 10));
    ask();
    await pass(20_001);
    expect(aborted).toHaveLength(1);
    const next = ask();
    await pass(0);
    expect(next.got).toBe(aborted[0]);
  });

  it('and never asks again leaves no upstream running when the whole takes too long', async () => {
    let hasEnded = false;
    async function* emit(): AsyncGenerator<AnswerPart> {
      try {
        yield PART;
        yield PART;
      } finally {
        hasEnded = true;
      }
    }
    const { ask } = start(emit());
    ask();
    await pass(19_999);
    expect(hasEnded).toBe(false);
    await pass(2);
    expect(hasEnded).toBe(true);
  });
});

describe('the watch over an answer', () => {
  it('passes on events, the end and failures as they are', async () => {
    const failure = new Refusal('upstream_broken', 'Broken');
    async function* fail(): AsyncGenerator<AnswerPart> {
      yield PART;
      throw failure;
    }
    const { ask, aborted } = start(fail());
    const got: unknown[] = [];
    for (let n = 0; n < 3; n += 1) {
      const asked = ask();
      await pass(0);
      got.push(asked.got);
    }
    expect(got).toEqual(['event', failure, 'done']);
    expect(aborted).toEqual([]);
  });

  it('ends nothing later, and leaves no timer, once an answer ended, failed, was left or expired', async () => {
    async function* fail(): AsyncGenerator<AnswerPart> {
      yield PART;
      throw new Refusal('upstream_broken', 'Broken');
    }
    const silent: AsyncIterable<AnswerPart> = {
      [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }),
    };
    const ended = [emitAfter(1), fail()].map((events) => start(events));
    for (const { ask } of ended) {
      ask();
      await pass(1);
      ask();
      await pass(1);
    }
    const left = start(emitAfter(1, 1));
    left.ask();
    await pass(1);
    await left.timed.return();
    const late = start(silent);
    late.ask();
    await pass(LIMITS.totalMs + 1);
    expect([...ended, left].map(({ aborted }) => aborted.length)).toEqual([0, 0, 0]);
    expect(late.aborted).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends the upstream when the client leaves, without calling it too slow', async () => {
    let hasEnded = false;
    async function* emit(): AsyncGenerator<AnswerPart> {
      try {
        yield PART;
        yield PART;
      } finally {
        hasEnded = true;
      }
    }
    const { ask, timed, aborted } = start(emit());
    ask();
    await pass(0);
    await timed.return();
    expect(hasEnded).toBe(true);
    expect(aborted).toEqual([]);
  });

  it('does not wait for an upstream that is deaf to its end', async () => {
    const { ask, timed } = start(emitAfter(NEVER));
    ask();
    await pass(6_001);
    let hasReturned = false;
    void timed.return().then(() => {
      hasReturned = true;
    });
    await pass(0);
    expect(hasReturned).toBe(true);
  });

  it('sets its timer a few times for an answer, and not once for each event', async () => {
    async function* emit(): AsyncGenerator<AnswerPart> {
      for (let n = 0; n < 10_000; n += 1) yield PART;
    }
    const { ask } = start(emit());
    const setTimer = vi.spyOn(globalThis, 'setTimeout');
    let events = 0;
    for (let got: unknown; got !== 'done'; ) {
      const asked = ask();
      while (asked.got === undefined) await Promise.resolve();
      got = asked.got;
      if (got === 'event') events += 1;
    }
    expect(events).toBe(10_000);
    expect(setTimer.mock.calls.length).toBeLessThan(5);
  });
});
