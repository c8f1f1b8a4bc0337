import { expect, it } from 'vitest';
import type { Answer, Infer } from '../../../src/protocol/inference.ts';
import { Refusal } from '../../../src/protocol/refusals.ts';
import { retryWithoutThoughts } from '../../../src/upstream/asking-again/retry-without-thoughts.ts';
import { ask, createCall } from '../../unit/upstream/simulated-support.ts';

const REASONING = {
  ...{ origin: 'other', bound: [], noteUpstream: undefined },
  ...{ open: () => undefined, seal: () => undefined },
};

it.each([
  [true, 1],
  [false, 2],
])('an answer whose client has gone (%s) is asked for %d times', async (isUnread, asks) => {
  let asked = 0;
  const infer: Infer = () => {
    asked += 1;
    return refuse(new Refusal('invalid_request', 'Invalid `signature` in `thinking` block'));
  };
  const call = createCall(ask('Hello'), { isUnread: () => isUnread, reasoning: REASONING });
  await expect(retryWithoutThoughts('main', infer)(call).next()).rejects.toThrow('Invalid');
  expect(asked).toBe(asks);
});

function refuse(refusal: Refusal): Answer {
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => Promise.reject(refusal),
  };
}
