import { expect, it } from 'vitest';
import { chatFormat } from '../../../../../src/protocol/chat/chat-format.ts';
import { encodeResponsesRequest } from '../../../../../src/protocol/responses/requests/encode-request.ts';

it('a chat client says how wordy an answer is to be, and under which key to cache', () => {
  const encode = (more: object) => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...more };
    const { request } = chatFormat.decodeRequest(body, () => undefined);
    const call = { request, outputTokensMax: 9, isStream: false };
    return JSON.parse(encodeResponsesRequest(call, 'm'));
  };
  const bare = encode({});
  const said = encode({ verbosity: 'low', prompt_cache_key: 'k' });
  expect(said).toEqual({ ...bare, prompt_cache_key: 'k', text: { verbosity: 'low' } });
  const format = { type: 'json_object' };
  const both = encode({ verbosity: 'low', response_format: format });
  expect(both.text).toEqual({ format, verbosity: 'low' });
  expect(encode({ verbosity: null, prompt_cache_key: null })).toEqual(bare);
});
