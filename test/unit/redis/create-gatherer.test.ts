import { describe, expect, it } from 'vitest';
import { CALLS_PER_RUN_MAX, createGatherer } from '../../../src/redis/create-gatherer.ts';

interface Call {
  readonly key: string;
  readonly n: number;
}

interface Sent extends Call {
  readonly isFirst: boolean;
}

/**
 * Keys with the same first letter share a run; calls of the same key share their records. Runs are
 * noted and answered as the test says.
 */
function createScene(answer: (calls: readonly Sent[]) => Promise<unknown>) {
  const runs: (readonly Sent[])[] = [];
  const turnEnds: (() => void)[] = [];
  const call = createGatherer<Call, Sent, string>({
    connection: { atTurnEnd: (callback) => turnEnds.push(callback) },
    canShare: (first, call) => first.key[0] === call.key[0],
    isAlike: (first, { key }) => first.key === key,
    encode(call, isFirst) {
      if (call.n < 0) throw new Error('below 0');
      return { ...call, isFirst };
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
    /** The first call of each key has a bar before it. */
    runs: () =>
      runs.map((calls) =>
        calls.map(({ key, n, isFirst }) => (isFirst ? '|' : '') + key + n).join(' '),
      ),
  };
}

const echo = (calls: readonly Call[]) => Promise.resolve(calls.map(({ key, n }) => key + n));

describe('calls of one turn', () => {
  it('wait for its end, and are a run for each key; each has its own reply', async () => {
    const { call, endTurn, runs } = createScene(echo);
    const replies = Promise.all([call('a', 1), call('b', 2), call('a', 3), call('b', 4)]);
    expect(runs()).toEqual([]);
    endTurn();
    expect(runs()).toEqual(['|a1 a3', '|b2 b4']);
    expect(await replies).toEqual(['a1', 'b2', 'a3', 'b4']);
  });

  it('of several keys share a run, those of a key together; each has its own reply', async () => {
    const { call, endTurn, runs } = createScene(echo);
    const all = [call('ax', 1), call('ay', 2), call('b', 3), call('ax', 4), call('ay', 5)];
    endTurn();
    expect(runs()).toEqual(['|ax1 ax4 |ay2 ay5', '|b3']);
    expect(await Promise.all(all)).toEqual(['ax1', 'ay2', 'b3', 'ax4', 'ay5']);
  });

  it('of a key whose records cannot be read fail, and those of other keys run without them', async () => {
    const { call, endTurn, runs } = createScene((calls) =>
      calls.some(({ key }) => key === 'ay')
        ? Promise.reject(new Error('WRONGTYPE it is no hash'))
        : echo(calls),
    );
    const all = Promise.allSettled([call('ax', 1), call('ay', 2), call('az', 3), call('ay', 4)]);
    endTurn();
    expect((await all).map(({ status }) => status)).toEqual([
      ...['fulfilled', 'rejected', 'fulfilled', 'rejected'],
    ]);
    expect(runs()).toEqual(['|ax1 |ay2 ay4 |az3', '|ax1', '|ay2 ay4', '|az3']);
  });

  it('of several keys fail together, and are not sent again, when nobody answers', async () => {
    const { call, endTurn, runs } = createScene(() =>
      Promise.reject(new Error('Command timed out')),
    );
    const all = Promise.allSettled([call('ax', 1), call('ay', 2)]);
    endTurn();
    expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(runs()).toEqual(['|ax1 |ay2']);
  });

  it('are not gathered with those of the next turn', async () => {
    const { call, endTurn, runs } = createScene(echo);
    const first = call('a', 1);
    endTurn();
    const second = call('a', 2);
    endTurn();
    expect(runs()).toEqual(['|a1', '|a2']);
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
    expect(runs()).toEqual(['|a2 a4']);
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
