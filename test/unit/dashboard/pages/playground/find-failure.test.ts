import { expect, it } from 'vitest';
import { findFailure } from '../../../../../src/dashboard/pages/playground/find-failure.ts';
import { NO_USAGE } from '../../../../../src/protocol/answers/no-usage.ts';
import { createStreamEncoder as encodeChat } from '../../../../../src/protocol/chat/answers/encode-stream.ts';
import { createStreamEncoder as encodeNative } from '../../../../../src/protocol/native/answers/encode-stream.ts';
import { Refusal } from '../../../../../src/protocol/refusals.ts';
import { createStreamEncoder as encodeResponses } from '../../../../../src/protocol/responses/answers/encode-stream.ts';

const CONTEXT = { createdSeconds: 1_700_000_000, wantsStreamUsage: true };

it.each([
  ['native', encodeNative],
  ['chat', encodeChat],
  ['Responses', encodeResponses],
] as const)('a %s stream tells at its end whether it has failed, and why', (_, createEncoder) => {
  const encoder = createEncoder(CONTEXT);
  const begun = encoder.encode({ type: 'start', id: 'msg_1', model: 'm', usage: NO_USAGE });
  const refusal = new Refusal('upstream_broken', 'The upstream broke off its answer.');
  const failed = begun + encoder.encodeError(refusal, 'req_1');
  const finish = { stopReason: 'end_turn', stopSequence: undefined, usage: NO_USAGE } as const;
  const complete = begun + encoder.encode({ type: 'finish', ...finish });
  expect(findFailure(failed)).toBe('The upstream broke off its answer.');
  for (const well of [complete, begun, '', 'data: {', 'data: null\n']) {
    expect(findFailure(well)).toBeUndefined();
  }
});
