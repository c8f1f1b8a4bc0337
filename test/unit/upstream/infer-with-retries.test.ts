import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Refusal } from '../../../src/protocol/refusals.ts';
import { UpstreamFailure } from '../../../src/routing/upstream-failure.ts';
import {
  createStage,
  errorOf,
  failWith,
  finish,
  PATIENCE_MS,
  pass,
  run,
  WELL,
} from './retry-support.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const BROKEN = new UpstreamFailure('broken', new Refusal('upstream_broken', 'It failed.'));
const UNREACHABLE = new UpstreamFailure(
  'unreachable',
  new Refusal('upstream_broken', 'It cannot be reached.'),
);
const DENIED = new UpstreamFailure('denied', new Refusal('upstream_denied', 'It failed.'));
const SLOW = new UpstreamFailure('slow', new Refusal('answer_too_slow', 'It took too long.'));
const OVERDUE = new UpstreamFailure('slow', SLOW, { isFinal: true });
const REFUSED = new Refusal('invalid_request', 'messages: too many');
const overloaded = (retryAfterMs = 0) =>
  new UpstreamFailure('overloaded', new Refusal('upstream_overloaded', 'Overloaded'), {
    retryAfterMs,
  });

const inFlightOf = ({ router }: ReturnType<typeof createStage>) =>
  router.readStates().map(({ inFlight }) => inFlight);

describe('a call that fails before its first event', () => {
  it.each([BROKEN, UNREACHABLE, SLOW, overloaded(), overloaded(20_000)])(
    'is tried elsewhere: %s',
    async (failure) => {
      const stage = createStage({
        main: { acts: [failWith(failure)] },
        spare: { acts: [WELL], priority: 2 },
      });
      const result = await finish(stage.infer);
      expect(result).toMatchObject({ end: 'done', events: [{ index: 2 }, {}, {}] });
      expect(stage.calls).toEqual(['main', 'spare']);
      expect(stage.ends).toEqual([
        [
          { upstream: 'main', result: failure.kind },
          { upstream: 'spare', result: 'ok' },
        ],
      ]);
      expect(inFlightOf(stage)).toEqual([0, 0]);
    },
  );

  it('is tried three times in all', async () => {
    const stage = createStage({
      a: { acts: [failWith(BROKEN)] },
      b: { acts: [failWith(BROKEN)] },
      c: { acts: [failWith(BROKEN)] },
      d: { acts: [failWith(BROKEN)] },
    });
    expect(errorOf(await finish(stage.infer))).toBe(BROKEN);
    expect(stage.calls).toHaveLength(3);
    expect(new Set(stage.calls).size).toBe(3);
  });

  it('is tried there again where there is no other', async () => {
    const stage = createStage({ only: { acts: [failWith(BROKEN), WELL] } });
    expect((await finish(stage.infer)).end).toBe('done');
    expect(stage.calls).toEqual(['only', 'only']);
  });

  it.each([SLOW, DENIED])(
    'is not tried there again where that cannot help: $kind',
    async (failure) => {
      const stage = createStage({ only: { acts: [failWith(failure), WELL] } });
      expect(errorOf(await finish(stage.infer))).toBe(failure);
      expect(stage.calls).toEqual(['only']);
    },
  );

  it('is not tried again when the request is at fault, on the first try or on a later one', async () => {
    const first = createStage({
      a: { acts: [failWith(REFUSED)] },
      b: { acts: [WELL], priority: 2 },
    });
    const later = createStage({
      a: { acts: [failWith(overloaded())] },
      b: { acts: [failWith(REFUSED)], priority: 2 },
      c: { acts: [WELL], priority: 3 },
    });
    for (const { infer } of [first, later]) {
      expect(errorOf(await finish(infer))).toMatchObject({ status: 400 });
    }
    expect([first.calls, later.calls]).toEqual([['a'], ['a', 'b']]);
  });

  it('is not tried again when all its time is up, and yet counts against the upstream', async () => {
    const first = createStage({
      a: { acts: [failWith(OVERDUE)] },
      b: { acts: [WELL], priority: 2 },
    });
    const later = createStage({
      a: { acts: [failWith(overloaded())] },
      b: { acts: [failWith(OVERDUE)], priority: 2 },
      c: { acts: [WELL], priority: 3 },
    });
    for (const { infer } of [first, later]) expect(errorOf(await finish(infer))).toBe(OVERDUE);
    expect([first.calls, later.calls]).toEqual([['a'], ['a', 'b']]);
    expect(later.ends[0]).toMatchObject([{ result: 'overloaded' }, { result: 'slow' }]);
    for (let n = 0; n < 5; n += 1) run(first.infer);
    await pass(0);
    expect(first.router.readStates()).toMatchObject([{ health: 'open' }, { health: 'closed' }]);
  });

  it('says nothing of the upstream when the request is at fault', async () => {
    const stage = createStage({ a: { acts: [failWith(REFUSED)] } });
    for (let n = 0; n < 10; n += 1) await finish(stage.infer);
    expect(stage.calls).toHaveLength(10);
    expect(stage.router.readStates()).toMatchObject([{ health: 'closed', inFlight: 0 }]);
  });

  it('says nothing of an upstream that denied what a request may have caused', async () => {
    const refusals = [
      new Refusal('upstream_denied', 'It failed.', { denial: 'request' }),
      new Refusal('invalid_request', 'api_key: unknown', { denial: 'request' }),
    ];
    for (const refusal of refusals) {
      const stage = createStage({
        a: { acts: [failWith(refusal)] },
        b: { acts: [failWith(refusal)] },
      });
      for (let n = 0; n < 20; n += 1) {
        expect(errorOf(await finish(stage.infer))).toMatchObject({ message: refusal.message });
      }
      expect(stage.calls).toHaveLength(40);
      expect(stage.router.readStates()).toMatchObject([{ health: 'closed' }, { health: 'closed' }]);
      expect(stage.ends[0]).toMatchObject([{ result: 'denied' }, { result: 'denied' }]);
    }
  });

  it('counts against an upstream that denies us everything', async () => {
    const refusal = new Refusal('upstream_denied', 'It failed.', { denial: 'account' });
    const stage = createStage({ a: { acts: [failWith(refusal)] } });
    for (let n = 0; n < 5; n += 1) run(stage.infer);
    await pass(0);
    expect(stage.router.readStates()).toMatchObject([{ health: 'open', inFlight: 0 }]);
  });

  it('is not tried again after a mistake of ours, which no upstream has to answer for', async () => {
    const mistake = new TypeError('undefined is not a function');
    const stage = createStage({ a: { acts: [failWith(mistake)] } });
    for (let n = 0; n < 10; n += 1) expect(errorOf(await finish(stage.infer))).toBe(mistake);
    expect(stage.calls).toHaveLength(10);
    expect(stage.ends[0]).toEqual([{ upstream: 'a', result: 'fault' }]);
    expect(stage.router.readStates()).toMatchObject([{ inFlight: 0, health: 'closed' }]);
  });

  it('counts an answer without any event as broken', async () => {
    const stage = createStage({ only: { acts: [{ events: 0, last: 'end' }] } });
    expect(errorOf(await finish(stage.infer))).toMatchObject({ refusal: 'upstream_broken' });
    expect(stage.calls).toHaveLength(3);
  });

  it('ends with the refusal that asks the client to come back, rather than with the last', async () => {
    const stage = createStage({
      a: { acts: [failWith(overloaded(20_000))] },
      b: { acts: [failWith(BROKEN)], priority: 2 },
      c: { acts: [failWith(UNREACHABLE)], priority: 3 },
    });
    expect(errorOf(await finish(stage.infer))).toMatchObject({
      status: 529,
      headers: { 'retry-after': '20' },
    });
    expect(stage.calls).toEqual(['a', 'b', 'c']);
  });

  it('is not tried again when the retries of all calls are used up', async () => {
    const stage = createStage({ a: { acts: [failWith(BROKEN)] } }, { burstMax: 1, share: 0 });
    await finish(stage.infer);
    await finish(stage.infer);
    expect(stage.calls).toHaveLength(3);
  });

  it('earns retries for others by being tried', async () => {
    const acts = [failWith(BROKEN), failWith(BROKEN), WELL, failWith(BROKEN), WELL];
    const stage = createStage({ a: { acts } }, { burstMax: 1, share: 1 });
    expect(errorOf(await finish(stage.infer))).toBe(BROKEN);
    await finish(stage.infer);
    expect((await finish(stage.infer)).end).toBe('done');
    expect(stage.calls).toHaveLength(5);
  });

  it('pauses before each further try, and the longer the later', async () => {
    const stage = createStage({ a: { acts: [failWith(BROKEN)] } }, { random: () => 0.5 });
    run(stage.infer);
    const calls: number[] = [];
    for (const ms of [0, 74, 1, 149, 1]) {
      await pass(ms);
      calls.push(stage.calls.length);
    }
    expect(calls).toEqual([1, 1, 2, 2, 3]);
  });

  it('waits for what the only upstream asks for when that is short, and no longer than the client would', async () => {
    const short = createStage({ a: { acts: [failWith(overloaded(1_500)), WELL] } });
    run(short.infer);
    await pass(1_499);
    expect(short.calls).toHaveLength(1);
    await pass(300);
    expect(short.calls).toHaveLength(2);

    const long = createStage({ a: { acts: [failWith(overloaded(2_500)), WELL] } });
    const refused = run(long.infer);
    await pass(200);
    expect(errorOf(refused)).toMatchObject({ status: 529, headers: { 'retry-after': '3' } });
    await pass(PATIENCE_MS);
    expect(long.calls).toHaveLength(1);
  });
});

describe('a call that fails after its first event', () => {
  it('ends there: what the client has is never said twice', async () => {
    const stage = createStage({
      a: { acts: [failWith(BROKEN, 2)] },
      b: { acts: [WELL], priority: 2 },
    });
    const result = await finish(stage.infer);
    expect(result.events).toHaveLength(2);
    expect(errorOf(result)).toBe(BROKEN);
    expect(stage.calls).toEqual(['a']);
    expect(stage.ends).toEqual([[{ upstream: 'a', result: 'broken' }]]);
    expect(inFlightOf(stage)).toEqual([0, 0]);
  });

  it('counts against the upstream', async () => {
    const stage = createStage({ a: { acts: [failWith(BROKEN, 1)] } });
    for (let n = 0; n < 20; n += 1) run(stage.infer);
    await pass(0);
    expect(stage.router.readStates()).toMatchObject([{ health: 'open', inFlight: 0 }]);
  });
});

it('shows that its upstream is back by its first event, however long it then takes', async () => {
  const failing = new Array(5).fill(failWith(BROKEN));
  const stage = createStage({ a: { acts: [...failing, { events: 1, last: 'silence' }] } });
  for (let n = 0; n < 2; n += 1) run(stage.infer);
  await pass(PATIENCE_MS);
  expect(stage.calls).toHaveLength(6);
  expect(stage.router.readStates()).toMatchObject([{ health: 'closed', inFlight: 1 }]);
});
