import { describe, expect, it } from 'vitest';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';

const gateway = useGateway({ config: FAST_CONFIG });

const FORMATS = {
  native: {
    path: '/v1/messages',
    silence: 'event: ping\ndata: {"type":"ping"}\n\n',
    end: /message_stop"\}\n\n$/,
    failure: /^event: error\ndata: \{"type":"error"/,
  },
  chat: {
    path: '/v1/chat/completions',
    silence: ': keepalive\n\n',
    end: /data: \[DONE\]\n\n$/,
    failure: /^data: \{"error":/,
  },
  responses: {
    path: '/v1/responses',
    silence: 'event: keepalive\ndata: {"type":"keepalive","sequence_number":',
    end: /event: response\.completed\ndata: \{[^\n]+\}\n\n$/,
    failure: /^event: error\ndata: \{"type":"error","sequence_number":\d+,"error":\{/,
  },
};

const stream = (path: string, content: string) =>
  fetch(`${gateway().url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway().key()}`,
      'llm-version': '2023-06-01',
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      model: 'haiku',
      max_tokens: 500,
      stream: true,
      ...(path === '/v1/responses'
        ? { input: content, store: false }
        : { messages: [{ role: 'user', content }] }),
    }),
  });

describe.concurrent.each(Object.entries(FORMATS))('a %s stream', (name, format) => {
  const { path, silence, end, failure } = format;

  it('has the headers that let it through proxies at once', async () => {
    const response = await stream(path, 'Hello');
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-cache');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    expect(response.headers.get('content-encoding')).toBeNull();
    expect(response.headers.get('request-id')).toMatch(/^req_/);
    await response.text();
  });

  it('breaks its silence before anybody takes it for dead', async () => {
    const text = await (await stream(path, '[[tokens 2]] [[slow 11000]]')).text();
    expect(text.split(silence).length).toBeGreaterThan(1);
    expect(text).toMatch(end);
  });

  it('that fails before its first event is a plain error', async () => {
    const response = await stream(path, '[[error 503]]');
    expect(response.status).toBe(503);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toHaveProperty('error');
  });

  it('that fails later ends with the error and nothing after it', async () => {
    const response = await stream(path, '[[error 503 after 3]]');
    expect(response.status).toBe(200);
    const events = (await response.text()).split('\n\n').filter((event) => event !== '');
    const last = events.at(name === 'responses' ? -2 : -1) ?? '';
    expect(last).toMatch(failure);
    expect(events.filter((event) => failure.test(event))).toHaveLength(1);
    expect(events.join('\n')).not.toMatch(/message_stop|\[DONE\]|response\.completed/);
    if (name === 'responses') expect(events.at(-1)).toMatch(/^event: response\.failed\n/);
  });
});
