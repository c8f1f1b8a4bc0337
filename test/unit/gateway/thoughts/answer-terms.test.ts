import { expect, it } from 'vitest';
import { createAnswerTerms } from '../../../../src/gateway/thoughts/answer-terms.ts';
import { createReasoningVault } from '../../../../src/keys/reasoning-vault.ts';
import type { InferenceAnswer } from '../../../../src/protocol/inference.ts';
import { encodeAnswer } from '../../../../src/protocol/responses/answers/encode-answer.ts';
import { NO_TOOL_NAMES } from '../../../../src/protocol/responses/response-context.ts';
import { ask } from '../../upstream/simulated-support.ts';

const ANSWER: InferenceAnswer = {
  ...{ id: 'msg_1', model: 'sonnet', content: [], stopReason: 'end_turn', stopSequence: undefined },
  usage: {
    ...{ input: 1, output: 1, thinking: 0, searches: 0 },
    ...{ cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 },
  },
};

it('an answer is complete at one moment, however often and whenever it is written', () => {
  let nowMs = 1_700_000_000_000;
  const response = { echo: {}, toolNames: NO_TOOL_NAMES, wantsStore: true, previousId: undefined };
  const { context } = createAnswerTerms(
    { requestId: 'req_1' },
    { request: ask('Hello'), wantsStreamUsage: false, response },
    { admission: { accountId: 'acct_1' }, model: { id: 'sonnet' } },
    {
      nowMs: () => nowMs,
      reasoning: createReasoningVault(() => ['the secret']),
      answerKeeper: undefined,
    },
  );
  const write = () => {
    nowMs += 3_000;
    return JSON.parse(encodeAnswer(ANSWER, context));
  };
  const first = write();
  expect(first).toMatchObject({ created_at: 1_700_000_000, completed_at: 1_700_000_003 });
  expect(write()).toEqual(first);
});
