import { afterAll, describe, expect, it } from 'vitest';
import { askModel, messageOf } from '../../support/clients/ask-model.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';

afterAll(stopRedisServers);

describe('large bodies of requests that are not admitted', () => {
  const gateway = useGateway({ config: `${FAST_CONFIG}limits: {body_bytes: 1MiB}\n` });
  const BODY = Buffer.alloc(1024 ** 2, '{');

  const post = async (path: string) => {
    const headers = {
      authorization: `Bearer ${gateway().key()}`,
      'content-type': 'application/json',
    };
    const response = await fetch(`${gateway().url}${path}`, {
      method: 'POST',
      body: BODY,
      headers,
    });
    await response.arrayBuffer();
    return response;
  };

  it('are read up to 32 of the largest a minute, which small and admitted ones do not count to', async () => {
    const ask = (text: string) => askModel(gateway().url, gateway().key(), messageOf(text));
    expect((await ask('Hi')).status).toBe(200);
    expect((await ask('ab '.repeat(30_000))).status).toBe(200);
    for (let i = 0; i < 16; i++) {
      expect((await post('/v1/messages')).status).toBe(400);
      expect((await post('/v1/messages/count_tokens')).status).toBe(400);
    }
    const refused = await post('/v1/messages');
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await post('/v1/messages/count_tokens')).status).toBe(429);
    expect((await ask('Hi')).status).toBe(200);
  });
});
