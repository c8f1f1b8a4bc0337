import { describe, expect, it } from 'vitest';
import { chatFormat } from '../../../src/protocol/chat/chat-format.ts';
import { responsesFormat } from '../../../src/protocol/responses/responses-format.ts';
import { BODY } from './native/request-parts.ts';
import { decodeNative } from './upstream-requests.ts';

const header = () => undefined;

function decodeChat(...content: object[]) {
  return chatFormat.decodeRequest({ model: 'm', messages: [{ role: 'user', content }] }, header);
}

function decodeResponses(...content: object[]) {
  return responsesFormat.decodeRequest({ model: 'm', input: [{ role: 'user', content }] }, header);
}

const native = (...content: object[]) =>
  decodeNative({ ...BODY, messages: [{ role: 'user', content }] });

const source = (url: string) => ({ type: 'url', url });
const image = (url: string) => ({ type: 'image', source: source(url) });
const document = (url: string) => ({ type: 'document', source: source(url) });

function decodeResult(block: object) {
  const use = { type: 'tool_use', id: 'a', name: 'look', input: {} };
  const result = { type: 'tool_result', tool_use_id: 'a', content: [block] };
  const messages = [
    { role: 'user', content: 'Look' },
    { role: 'assistant', content: [use] },
    { role: 'user', content: [result] },
  ];
  return decodeNative({ ...BODY, messages });
}

/** Every place where a client can name a file by its URL. */
const PLACES: Readonly<Record<string, (url: string) => unknown>> = {
  'a native image': (url) => native(image(url)),
  'a native document': (url) => native(document(url)),
  'a native image in a document': (url) =>
    native({ type: 'document', source: { type: 'content', content: [image(url)] } }),
  'a native image in a result': (url) => decodeResult(image(url)),
  'a native document in a result': (url) => decodeResult(document(url)),
  'a chat image': (url) => decodeChat({ type: 'image_url', image_url: { url } }),
  'a chat file': (url) => decodeChat({ type: 'file', file: { file_data: url } }),
  'a Responses image': (url) => decodeResponses({ type: 'input_image', image_url: url }),
  'a Responses file': (url) => decodeResponses({ type: 'input_file', file_url: url }),
};

describe.each(Object.entries(PLACES))('%s', (_, decode) => {
  it.each([
    'file:///etc/passwd',
    'ms://file-abc',
    'gs://bucket/a.pdf',
    'data:video/mp4;base64,AAAA',
    'https:a.png',
  ])('is refused by the URL %s', (url) => {
    const refusal = expect.objectContaining({ status: 400, refusal: 'invalid_request' });
    expect(() => decode(url)).toThrow(refusal);
  });

  it.each(['https://example.com/a', 'HTTP://example.com/a'])('may come by %s', (url) => {
    expect(() => decode(url)).not.toThrow();
  });
});

it('says to a native client which URL it was', () => {
  const message = 'messages.0.content.0.image.source.url: Input should be an http(s) URL';
  expect(() => native(image('file:///a'))).toThrow(message);
});
