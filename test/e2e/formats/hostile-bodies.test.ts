import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';

const gateway = useGateway({ config: FAST_CONFIG });

const ROUTES = ['/v1/messages', '/v1/chat/completions', '/v1/responses'];
const FRAME = '"model":"haiku","max_tokens":20';
const hello = '"messages":[{"role":"user","content":"Hello"}]';

const REFUSED: Readonly<Record<string, string | Uint8Array>> = {
  'nothing at all': '',
  'no JSON': 'hello',
  'half of an object': `{${FRAME},${hello}`,
  'a comma too many': `{${FRAME},${hello},}`,
  'a list': `[{${FRAME},${hello}}]`,
  null: 'null',
  text: '"hello"',
  'bytes that are no UTF-8': Buffer.concat([
    Buffer.from(`{${FRAME},"messages":[{"role":"user","content":"`),
    Buffer.from([0xff, 0xfe, 0xc3, 0x28]),
    Buffer.from('"}]}'),
  ]),
  '10,000 lists in each other': `{${FRAME},"messages":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
  '10,000 objects in an unknown field': `{${FRAME},${hello},"x":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`,
  'a million openings': '['.repeat(1_000_000),
  'a number beyond all bounds': `{"model":"haiku","max_tokens":1e999,${hello}}`,
  'a number beyond all integers': `{"model":"haiku","max_tokens":9007199254740993,${hello}}`,
  'a name of a million marks over one letter': `{${FRAME},${hello},"a${'\u0301\u0316'.repeat(500_000)}":1}`,
  'messages of a wrong kind': `{${FRAME},"messages":{"role":"user"}}`,
  'a null message': `{${FRAME},"messages":[null]}`,
};

const ANSWERED: Readonly<Record<string, string>> = {
  'a key twice': `{"model":"nonsense",${FRAME},${hello}}`,
  'a __proto__ key': `{${FRAME},"__proto__":{"stream":true,"polluted":1},"constructor":{"prototype":{"x":1}},${hello}}`,
  'half of a surrogate pair': `{${FRAME},"messages":[{"role":"user","content":"\\ud800 hello \\udc00"}]}`,
  'huge numbers where nobody looks': `{${FRAME},${hello},"metadata":{"n":1e400}}`,
  'a name of 7,000 marks over one letter': `{${FRAME},${hello},"a${'\u0301\u0316'.repeat(3_500)}":1}`,
  'NUL and control characters in text': `{${FRAME},"messages":[{"role":"user","content":"a\\u0000b\\u001b"}]}`,
};

describe('a tool call of the chat format', () => {
  it('whose arguments are nested too deeply is read as the text that it is', async () => {
    const depth = 10_000;
    const call = {
      id: 'call_1',
      type: 'function',
      function: { name: 'f', arguments: `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}` },
    };
    const response = await fetch(`${gateway().url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': gateway().key(), 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'haiku',
        messages: [
          { role: 'user', content: 'Hello' },
          { role: 'assistant', tool_calls: [call] },
          { role: 'tool', tool_call_id: 'call_1', content: 'done' },
        ],
      }),
    });
    expect(response.status).toBe(200);
  });
});

/** The same in the words of the route. */
function reword(body: string | Uint8Array, path: string): string | Uint8Array {
  if (path !== '/v1/responses' || typeof body !== 'string') return body;
  return body
    .replaceAll('"messages"', '"input"')
    .replaceAll('"max_tokens"', '"max_output_tokens"')
    .replaceAll('"metadata"', '"client_metadata"');
}

const wordOf = (path: string) => Buffer.from(String(reword(`{${FRAME},${hello}}`, path)));

const post = (path: string, body: RequestInit['body'], more?: Readonly<Record<string, string>>) =>
  fetch(`${gateway().url}${path}`, {
    method: 'POST',
    headers: {
      'x-api-key': gateway().key(),
      'llm-version': '2023-06-01',
      'content-type': 'application/json',
      ...more,
    },
    body: body ?? null,
  });

const sendEncoded = (path: string, encoding: string, body: Buffer) =>
  post(path, body, { 'content-encoding': encoding });

it.each(['/v1/messages/count_tokens', '/v1/responses/input_tokens', '/v1/embeddings'])(
  'a compressed body on %s is refused with 415 as well',
  async (path) => {
    const asked = await sendEncoded(path, 'br', Buffer.from([0x0b, 0x02, 0x80]));
    expect(asked.status).toBe(415);
    expect(await asked.text()).toContain('`br`');
  },
);

it.each(['/v1/messages/count_tokens', '/v1/responses/input_tokens'])(
  'a body on %s is counted if it is JSON',
  async (path) => {
    const list = path.startsWith('/v1/responses') ? 'input' : 'messages';
    const body = `{"model":"haiku","${list}":[{"role":"user","content":"Hi"}]}`;
    const send = (type: string) => post(path, body, { 'content-type': type });
    expect((await send('application/json')).status).toBe(200);
    expect((await send('text/plain')).status).toBe(415);
  },
);

describe.each(ROUTES)('a hostile body on %s', (path) => {
  const send = (body: string | Uint8Array) => post(path, reword(body, path));

  it.each(Object.entries(REFUSED))('is refused with a reason: %s', async (_name, body) => {
    const response = await send(body);
    const answer = (await response.json()) as { error: { message: string; type: string } };
    expect(response.status).toBe(400);
    expect(answer.error.type).toBe('invalid_request_error');
    expect(answer.error.message).toMatch(/\w/);
    expect(answer.error.message.length).toBeLessThan(500);
  });

  it.each(Object.entries(ANSWERED))('is answered: %s', async (_name, body) => {
    const response = await send(body);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ model: 'llm-haiku-4.5' });
  });

  it('of another content type is refused with 415', async () => {
    const response = await fetch(`${gateway().url}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': gateway().key(), 'content-type': 'text/plain' },
      body: 'hello',
    });
    expect(response.status).toBe(415);
  });

  it('that is compressed is refused with 415, which names what to leave out', async () => {
    const asked = await sendEncoded(path, 'gzip', gzipSync(wordOf(path)));
    expect(asked.status).toBe(415);
    expect(asked.headers.get('accept-encoding')).toBe('identity');
    const { error } = (await asked.json()) as { error: Record<string, unknown> };
    expect(error).toMatchObject({
      type: 'invalid_request_error',
      ...(path !== '/v1/messages' && { code: 'unsupported_media_type', param: null }),
      message: 'content-encoding: `gzip` is not taken, send the body uncompressed',
    });
  });

  it.each(['identity', 'Identity', '', 'UTF-8'])(
    'is answered if its encoding is no compression: "%s"',
    async (none) => {
      const asked = await sendEncoded(path, none, wordOf(path));
      expect(asked.status).toBe(200);
    },
  );

  it('never cost a worker or left a fault in the log', async () => {
    expect(gateway().workerPids()).toHaveLength(1);
    expect(gateway().stderr()).not.toMatch(/handler failed|worker died/);
  });
});
