import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../bench/soak/run-client.ts';
import { watchAnswers } from '../../../bench/soak/watch-answers.ts';

const WINDOW_MS = 60_000;

const account = { id: 'account', requestsMax: 3, isPoor: false };
const key = { id: 'key', account, text: '', rpm: 2, revokedMs: undefined };

/** The faults that the watch finds in these answers, each of which has its own id. */
function findBroken(answers: readonly Partial<Answer>[]): string[] {
  const broken: string[] = [];
  const watch = watchAnswers({ windowMs: WINDOW_MS, onBroken: (what) => broken.push(what) });
  answers.forEach((answer, index) => {
    const sentMs = answer.sentMs ?? 0;
    const defaults = { key, sentMs, headMs: sentMs + 1, status: 200, requestId: `req_${index}` };
    watch.note({ ...defaults, ...answer });
  });
  return broken;
}

describe('the watch over answers', () => {
  it('finds more requests inside one window than a key may have, and only those', () => {
    expect(findBroken([{ sentMs: 0 }, { sentMs: 100 }])).toEqual([]);
    expect(findBroken([{ sentMs: 0 }, { sentMs: 100 }, { sentMs: 200 }])).toEqual([
      'key key: 3 requests in a window that has room for 2',
    ]);
    const afterWindow = { sentMs: WINDOW_MS };
    expect(findBroken([{ sentMs: 0 }, { sentMs: 100 }, afterWindow])).toEqual([]);
    // Nobody can know whether it was admitted before the others had left the window.
    const slow = { sentMs: 200, headMs: WINDOW_MS + 50 };
    expect(findBroken([{ sentMs: 0 }, { sentMs: 100 }, slow])).toEqual([]);
  });

  it('counts what was admitted and failed, and not what was refused', () => {
    const two = [{ sentMs: 0 }, { sentMs: 1 }];
    expect(findBroken([...two, { sentMs: 2, status: 429 }])).toEqual([]);
    expect(findBroken([...two, { sentMs: 2, status: 504 }])).toHaveLength(1);
  });

  it('holds all keys of an account together against its plan', () => {
    const keys = ['a', 'b', 'c', 'd'].map((id) => ({ ...key, id }));
    expect(findBroken(keys.slice(1).map((each) => ({ key: each })))).toEqual([]);
    expect(findBroken(keys.map((each) => ({ key: each })))).toEqual([
      'account account: 4 requests in a window that has room for 3',
    ]);
  });

  it('finds keys that are served after their revocation, faults, and answers that come twice', () => {
    const revoked = { ...key, revokedMs: 10 };
    expect(findBroken([{ key: revoked, sentMs: 9 }])).toEqual([]);
    expect(findBroken([{ key: revoked, sentMs: 11, status: 401 }])).toEqual([]);
    expect(findBroken([{ key: revoked, sentMs: 11 }])).toHaveLength(1);
    expect(findBroken([{ status: 500 }])).toHaveLength(1);
    expect(findBroken([{ requestId: 'req' }, { requestId: 'req' }])).toHaveLength(1);
  });
});
