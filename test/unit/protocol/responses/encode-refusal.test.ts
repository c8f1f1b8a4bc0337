import { expect, it } from 'vitest';
import { oversizedAnswer } from '../../../../src/protocol/json/upstream-json.ts';
import { Refusal, type RefusalName } from '../../../../src/protocol/refusals.ts';
import { failureCodeOf } from '../../../../src/protocol/responses/encode-refusal.ts';

it.each<[RefusalName, string]>([
  ['unauthenticated', 'invalid_prompt'],
  ['account_suspended', 'invalid_prompt'],
  ['invalid_request', 'invalid_prompt'],
  ['body_too_large', 'invalid_prompt'],
  ['balance_too_low', 'insufficient_quota'],
  ['context_too_long', 'context_length_exceeded'],
  ['rate_limited', 'rate_limit_exceeded'],
  ['upstream_broken', 'server_error'],
])('%s in the middle of an answer is sent as %s', (name, code) => {
  expect(failureCodeOf(new Refusal(name, 'Why.'))).toBe(code);
});

it('an answer that is too large is sent as one that is not to be asked for again', () => {
  expect(failureCodeOf(oversizedAnswer('its end would repeat too much'))).toBe('invalid_prompt');
});
