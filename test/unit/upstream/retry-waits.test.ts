import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Refusal } from '../../../src/protocol/refusals.ts';
import { createStage, errorOf, failWith, PATIENCE_MS, pass, run, WELL } from './retry-support.ts';
import { ask, createCall } from './simulated-support.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const BROKEN = new Refusal('upstream_broken', 'It failed.');
const OVERLOADED = new Refusal('upstream_overloaded', 'Overloaded', {
  headers: { 'retry-after': '25' },
});

const inFlightOf = ({ router }: ReturnType<typeof createStage>) =>
  router.readStates().map(({ inFlight }) => inFlight);

describe('a client that leaves', () => {
  const leaveAfter = async (ms: number, stage: ReturnType<typeof createStage>) => {
    const leaving = new AbortController();
    const reason = new Refusal('unauthenticated', 'This API key has been revoked.');
    const result = run(stage.infer, leaving.signal);
    await pass(ms);
    expect(result.end).toBeUndefined();
    leaving.abort(reason);
    await pass(0);
    expect(errorOf(result)).toBe(reason);
    return result;
  };

  it('is not served any more, while the upstream is silent', async () => {
    const stage = createStage({ a: { acts: [{ events: 0, last: 'silence' }] } });
    await leaveAfter(10, stage);
    expect(stage.calls).toHaveLength(1);
    expect(stage.ends).toEqual([[{ upstream: 'a', result: 'left' }]]);
    expect(stage.router.readStates()).toMatchObject([{ inFlight: 0, health: 'closed' }]);
    expect(stage.running.size).toBe(0);
  });

  it('is not served any more, between two events', async () => {
    const stage = createStage({ a: { acts: [{ events: 2, last: 'silence' }] } });
    expect((await leaveAfter(10, stage)).events).toHaveLength(2);
    expect(stage.ends).toEqual([[{ upstream: 'a', result: 'left' }]]);
    expect(inFlightOf(stage)).toEqual([0]);
  });

  it('is not served any more, in a pause between two tries', async () => {
    const stage = createStage({ a: { acts: [failWith(BROKEN), WELL] } });
    await leaveAfter(10, stage);
    expect(vi.getTimerCount()).toBe(0);
    await pass(PATIENCE_MS);
    expect(stage.calls).toHaveLength(1);
  });

  it('is not served any more, in the queue for a place', async () => {
    const stage = createStage({
      a: { acts: [{ events: 1, last: 'silence' }], concurrencyMax: 1 },
    });
    const ahead = new AbortController();
    run(stage.infer, ahead.signal);
    await pass(0);
    await leaveAfter(10, stage);
    expect(vi.getTimerCount()).toBe(0);
    ahead.abort(new Error('gone'));
    await pass(0);
    expect(stage.calls).toHaveLength(1);
    expect(inFlightOf(stage)).toEqual([0]);
  });

  it('without a word, by asking for no more events, gives its place back', async () => {
    const stage = createStage({ a: { acts: [WELL], concurrencyMax: 1 } });
    for (let n = 0; n < 3; n += 1) {
      for await (const _ of stage.infer(createCall(ask('Hello')))) break;
    }
    expect(stage.calls).toHaveLength(3);
    expect(stage.ends).toHaveLength(3);
    expect(stage.running.size).toBe(0);
    expect(inFlightOf(stage)).toEqual([0]);
  });
});

describe('a call for which no upstream is ready', () => {
  const busy = { acts: [{ events: 1, last: 'silence' } as const], concurrencyMax: 1 };

  it('waits for a place and takes the next one that is free', async () => {
    const stage = createStage({ a: { ...busy, acts: [...busy.acts, WELL] } });
    const leaving = new AbortController();
    run(stage.infer, leaving.signal);
    await pass(0);
    const waiting = run(stage.infer);
    await pass(4_000);
    expect(waiting.end).toBeUndefined();
    leaving.abort(new Error('gone'));
    await pass(0);
    expect(waiting.end).toBe('done');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is refused when no place is free in time, and told when to come back', async () => {
    const stage = createStage({ a: busy });
    const leaving = new AbortController();
    run(stage.infer, leaving.signal);
    await pass(0);
    const waiting = run(stage.infer);
    await pass(PATIENCE_MS);
    expect(errorOf(waiting)).toMatchObject({
      status: 503,
      message: expect.stringContaining('busy'),
      headers: { 'retry-after': expect.stringMatching(/^[1-3]$/) },
    });
    expect(stage.ends).toEqual([[]]);
    expect(vi.getTimerCount()).toBe(0);
    leaving.abort(new Error('gone'));
    await pass(0);
    expect(inFlightOf(stage)).toEqual([0]);
  });

  it('is refused at once when too many wait already', async () => {
    const stage = createStage({ a: busy }, { waitersPerModelMax: 2 });
    const results = Array.from({ length: 4 }, () => run(stage.infer));
    await pass(0);
    expect(results.map((result) => errorOf(result) !== undefined)).toEqual([
      false,
      false,
      false,
      true,
    ]);
    expect(vi.getTimerCount()).toBe(2);
  });

  it('is refused at once when all are left alone, and told when the first is asked again', async () => {
    const stage = createStage({ a: { acts: [failWith(OVERLOADED)] } });
    await pass(0);
    run(stage.infer);
    await pass(1_000);
    const refused = run(stage.infer);
    await pass(0);
    expect(errorOf(refused)).toMatchObject({ status: 503, headers: { 'retry-after': '24' } });
    expect(stage.calls).toHaveLength(1);
  });
});
