import { expect, it } from 'vitest';
import { chatFormat } from '../../../../../src/protocol/chat/chat-format.ts';

const minimal = { model: 'opus', messages: [{ role: 'user', content: 'Hello' }] };
const decode = (body: object) => chatFormat.decodeRequest(body, () => undefined).request;
const decodeWith = (fields: object) => decode({ ...minimal, ...fields });

it('a maximum of -1 is none', () => {
  expect(decodeWith({ max_tokens: -1 }).outputTokensMax).toBeUndefined();
  const both = { max_completion_tokens: -1, max_tokens: 5 };
  expect(decodeWith(both).outputTokensMax).toBe(5);
});

it('there may be more stop sequences than one vendor takes', () => {
  const stop = Array.from({ length: 64 }, (_, i) => `stop ${i}`);
  expect(decodeWith({ stop }).stopSequences).toEqual(stop);
});

it('a body of the Responses format is told where it belongs', () => {
  expect(() => decode({ model: 'opus', input: [] })).toThrow(
    expect.objectContaining({
      ...{ status: 400, refusal: 'missing_field', param: 'messages' },
      message:
        "Missing required parameter: 'messages'. A body with 'input' belongs to POST /v1/responses.",
    }),
  );
});
