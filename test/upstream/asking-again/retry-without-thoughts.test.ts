import { expect, it } from 'vitest';
import type { Answer, Infer, InferenceCall } from '../../../src/protocol/inference.ts';
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

const CHANGED =
  '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.';

it.each([
  ['main', CHANGED, 2, CHANGED],
  ['other', CHANGED, 2, CHANGED],
  ['main', 'Invalid `signature` in `thinking` block', 1, 'Invalid'],
  ['other', 'Invalid `signature` in `thinking` block', 1, 'the upstream that has thought it'],
])(
  'a turn that goes on from thoughts of %s, refused with %j, is asked for %d times',
  async (origin, message, asks, told) => {
    const asked: InferenceCall[] = [];
    const infer: Infer = (call) => {
      asked.push(call);
      return refuse(new Refusal('invalid_request', message));
    };
    const bound = [{ sealed: 'tg1.x', opened: undefined }];
    const call = createCall(ask('Hello'), { reasoning: { ...REASONING, origin, bound } });
    await expect(retryWithoutThoughts('main', infer)(call).next()).rejects.toThrow(told);
    expect(asked.map(({ reasoning }) => reasoning?.origin)).toEqual(
      [origin, undefined].slice(0, asks),
    );
  },
);

function refuse(refusal: Refusal): Answer {
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => Promise.reject(refusal),
  };
}
