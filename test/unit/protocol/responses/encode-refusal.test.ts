import { expect, it } from 'vitest';
import { Refusal, type RefusalName } from '../../../../src/protocol/refusals.ts';
import { failureCodeOf } from '../../../../src/protocol/responses/encode-refusal.ts';

it.each<[RefusalName, string]>([
  ['unauthenticated', 'invalid_prompt'],
  ['account_suspended', 'invalid_prompt'],
  ['balance_too_low', 'insufficient_quota'],
  ['context_too_long', 'context_length_exceeded'],
  ['rate_limited', 'rate_limit_exceeded'],
  ['upstream_broken', 'server_error'],
])('%s in the middle of an answer is told as %s', (name, code) => {
  expect(failureCodeOf(new Refusal(name, 'Why.'))).toBe(code);
});
