import { describe, expect, it } from 'vitest';
import { messageOf } from '../../support/clients/ask-model.ts';
import { startGateway } from '../../support/servers/start-gateway.ts';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';

const ORIGIN = 'https://app.example.com';
const gateway = useGateway({
  config: `${FAST_CONFIG}cors: {origins: ["${ORIGIN}", "http://localhost:5173"]}\n`,
});

const API = [
  ['POST', '/v1/messages'],
  ['POST', '/v1/messages/count_tokens'],
  ['POST', '/v1/chat/completions'],
  ['POST', '/v1/responses'],
  ['POST', '/v1/embeddings'],
  ['GET', '/v1/models'],
  ['GET', '/v1/models/info'],
  ['GET', '/v1/models/opus'],
  ['GET', '/v1/key'],
] as const;

const preflight = (path: string, method: string, origin = ORIGIN, url = gateway().url) =>
  fetch(`${url}${path}`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,x-api-key,x-stainless-lang',
    },
  });

const corsHeaders = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => /^access-control|^vary$/.test(name)));

const READABLE = {
  'access-control-allow-origin': ORIGIN,
  'access-control-expose-headers': '*',
  vary: 'origin',
};

describe('an origin that is allowed', () => {
  it.each(API)('may ask for %s %s, without a key', async (method, path) => {
    const response = await preflight(path, method);
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect(corsHeaders(response)).toEqual({
      ...READABLE,
      'access-control-allow-methods': '*',
      'access-control-allow-headers': 'authorization, *',
      'access-control-max-age': '7200',
    });
  });

  it.each(API)('may read what %s %s refuses', async (method, path) => {
    const response = await fetch(`${gateway().url}${path}`, {
      ...{ method, headers: { origin: ORIGIN } },
      ...(method === 'POST' && { body: '{}' }),
    });
    expect(response.status).toBe(401);
    expect(corsHeaders(response)).toEqual(READABLE);
  });

  it.each([
    ['POST', '/v1/message', 404],
    ['GET', '/v1/messages/', 404],
    ['DELETE', '/v1/messages', 405],
  ])('may read that there is no %s %s', async (method, path, status) => {
    const asked = await preflight(path, method);
    expect(asked.status).toBe(200);
    expect(corsHeaders(asked)).toMatchObject({ 'access-control-allow-methods': '*' });
    const response = await fetch(`${gateway().url}${path}`, {
      method,
      headers: { origin: ORIGIN },
    });
    expect(response.status).toBe(status);
    expect(corsHeaders(response)).toEqual(READABLE);
  });

  it.each([true, false])('may read what models answer, streamed: %s', async (stream) => {
    const response = await fetch(`${gateway().url}/v1/messages`, {
      method: 'POST',
      headers: {
        ...{ origin: ORIGIN, 'x-api-key': gateway().key(), 'llm-version': '2023-06-01' },
        'content-type': 'application/json',
      },
      body: JSON.stringify(messageOf('Hi', { stream })),
    });
    expect(response.status).toBe(200);
    expect(await response.text()).not.toBe('');
    expect(corsHeaders(response)).toEqual(READABLE);
  });
});

describe('any other origin', () => {
  it.each([
    'https://app.example.com.evil.example',
    'http://app.example.com',
    'https://app.example.com:8443',
    'https://APP.example.com',
    'null',
    '*',
  ])('may read nothing: %s', async (origin) => {
    const asked = await preflight('/v1/messages', 'POST', origin);
    expect(corsHeaders(asked)).not.toHaveProperty('access-control-allow-origin');
    const answered = await fetch(`${gateway().url}/v1/models`, { headers: { origin } });
    expect(corsHeaders(answered)).toEqual({ vary: 'origin' });
  });

  it('gets no other answer from a cache', async () => {
    const response = await fetch(`${gateway().url}/v1/models`);
    expect(corsHeaders(response)).toEqual({ vary: 'origin' });
  });
});

it('routes that are no part of the API are for no other origin', async () => {
  for (const path of ['/health', '/openapi.json', '/']) {
    const response = await fetch(`${gateway().url}${path}`, { headers: { origin: ORIGIN } });
    expect(corsHeaders(response)).not.toHaveProperty('access-control-allow-origin');
  }
});

it('without the setting nothing is different for browsers', async () => {
  const plain = await startGateway({ config: FAST_CONFIG });
  const asked = await preflight('/v1/messages', 'POST', ORIGIN, plain.url);
  expect([asked.status, asked.headers.get('allow')]).toEqual([405, 'POST']);
  expect(corsHeaders(asked)).toEqual({});
  const answered = await fetch(`${plain.url}/v1/models`, { headers: { origin: ORIGIN } });
  expect(corsHeaders(answered)).toEqual({});
});
