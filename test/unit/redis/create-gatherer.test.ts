import { describe, expect, it } from 'vitest';
import { CALLS_PER_RUN_MAX, createGatherer } from '../../../src/redis/create-gatherer.ts';

interface Call {
  readonly key: string;
  readonly n: number;
}

/** Calls of the same key share a run. Runs are noted and answered as the test says. */
function createScene(answer: (calls: readonly Call[]) => Promise<unknown>) {
  const runs: (readonly Call[])[] = [];
  const turnEnds: (() => void)[] = [];
  const call = createGatherer<Call, Call, string>({
    connection: { atTurnEnd: (callback) => turnEnds.push(callback) },
    canShare: (first, { key }) => first.key === key,
    encode(call) {
      if (call.n < 0) throw new Error('below 0');
      return call;
    },
    runScript(_, calls) {
      runs.push(calls);
      return answer(calls);
    },
    readReply(reply, index) {
      const text = (reply as string[])[index];
      if (text === undefined) throw new Error('no reply');
      return text;
    },
  });
  return {
    call: (key: string, n: number) => call({ key, n }),
    endTurn: () => {
      for (const callback of turnEnds.splice(0)) callback();
    },
    runs: () => runs.map((calls) => calls.map(({ key, n }) => key + n).join(' ')),
  };
}

const echo = (calls: readonly Call[]) => Promise.resolve(calls.map(({ key, n }) => key + n));

describe('calls of one turn', () => {
  it('wait for its end, and are a run for each key; each has its own reply', async () => {
    const { call, endTurn, runs } = createScene(echo);
    const replies = Promise.all([call('a', 1), call('b', 2), call('a', 3), call('b', 4)]);
    expect(runs()).toEqual([]);
    endTurn();
    expect(runs()).toEqual(['a1 a3', 'b2 b4']);
    expect(await replies).toEqual(['a1', 'b2', 'a3', 'b4']);
  });

  it('are not gathered with those of the next turn', async () => {
    const { call, endTurn, runs } = createScene(echo);
    const first = call('a', 1);
    endTurn();
    const second = call('a', 2);
    endTurn();
    expect(runs()).toEqual(['a1', 'a2']);
    expect(await Promise.all([first, second])).toEqual(['a1', 'a2']);
  });

  it(`are at most ${CALLS_PER_RUN_MAX} in a run`, () => {
    const { call, endTurn, runs } = createScene(echo);
    for (let n = 0; n < 2 * CALLS_PER_RUN_MAX + 1; n++) void call('a', n);
    endTurn();
    expect(runs().map((text) => text.split(' ').length)).toEqual([
      ...[CALLS_PER_RUN_MAX, CALLS_PER_RUN_MAX, 1],
    ]);
  });

  it('are all sent, however many keys there are', async () => {
    const { call, endTurn } = createScene(echo);
    const keys = Array.from({ length: 300 }, (_, n) => `key${n % 100}-`);
    const replies = Promise.all(keys.map((key, n) => call(key, n)));
    endTurn();
    expect(await replies).toEqual(keys.map((key, n) => key + n));
  });

  it('fail together when their run does, and no others', async () => {
    const { call, endTurn } = createScene((calls) =>
      calls[0]?.key === 'a' ? Promise.reject(new Error('away')) : echo(calls),
    );
    const all = Promise.allSettled([call('a', 1), call('b', 2), call('a', 3)]);
    endTurn();
    expect((await all).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
  });

  it('fail when their run cannot even be asked for', async () => {
    const { call, endTurn } = createScene(() => {
      throw new Error('not a number');
    });
    const asked = call('a', 1);
    endTurn();
    await expect(asked).rejects.toThrow('not a number');
  });

  it('fail alone when they cannot be told, and the others run', async () => {
    const { call, endTurn, runs } = createScene(echo);
    const all = Promise.allSettled([call('a', -1), call('a', 2), call('a', -3), call('a', 4)]);
    endTurn();
    expect(runs()).toEqual(['a2 a4']);
    expect((await all).map(({ status }) => status)).toEqual([
      ...['rejected', 'fulfilled', 'rejected', 'fulfilled'],
    ]);
  });

  it('fail alone when the reply says nothing of them', async () => {
    const { call, endTurn } = createScene(() => Promise.resolve(['first']));
    const all = Promise.allSettled([call('a', 1), call('a', 2)]);
    endTurn();
    expect((await all).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });
});
