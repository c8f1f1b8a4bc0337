import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { useGateway } from '../../support/use-gateway.ts';

const gateway = useGateway({ config: 'workers: 1\n' });

async function ask(
  path: string,
  headers: Record<string, string> = { 'x-api-key': gateway().key() },
) {
  const response = await fetch(`${gateway().url}${path}`, { headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('the models', () => {
  it('are listed for both families of clients, aliases with what they stand for', async () => {
    const { status, body } = await ask('/v1/models');
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: 'list', has_more: false, first_id: 'llm-opus-4.7' });
    const entries = body['data'] as Record<string, unknown>[];
    expect(entries.map((entry) => [entry['id'], entry['alias_for']])).toEqual([
      ['llm-opus-4.7', undefined],
      ['llm-sonnet-4.6', undefined],
      ['llm-haiku-4.5', undefined],
      ['opus', 'llm-opus-4.7'],
      ['sonnet', 'llm-sonnet-4.6'],
      ['haiku', 'llm-haiku-4.5'],
    ]);
    for (const entry of entries) {
      expect(entry).toMatchObject({ object: 'model', type: 'model', context_length: 200_000 });
    }
  });

  it('are exactly those that may be asked', async () => {
    const headers = { 'x-api-key': gateway().key(), 'llm-version': '2023-06-01' };
    const askFor = async (model: unknown) => {
      const messages = [{ role: 'user', content: 'Hi' }];
      const response = await fetch(`${gateway().url}/v1/messages`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ model, max_tokens: 1, messages }),
      });
      await response.arrayBuffer();
      return response.status;
    };
    const { body } = await ask('/v1/models');
    const ids = (body['data'] as { id: string }[]).map(({ id }) => id);
    expect(ids).toHaveLength(6);
    for (const id of ids) expect(await askFor(id), id).toBe(200);
    expect(await askFor('llm-none-1.0')).toBe(404);
  });

  it('are listed with a Bearer key as well, and page by page', async () => {
    const bearer = { authorization: `Bearer ${gateway().key()}` };
    const seen: unknown[] = [];
    for (let after = ''; ; ) {
      const { body } = await ask(`/v1/models?limit=4&after_id=${after}`, bearer);
      seen.push(...(body['data'] as { id: string }[]).map((entry) => entry.id));
      if (body['has_more'] !== true) break;
      after = String(body['last_id']);
    }
    expect(seen).toHaveLength(6);
  });

  it('have prices in their info', async () => {
    const { body } = await ask('/v1/models/info');
    const [opus] = body['data'] as Record<string, unknown>[];
    expect(opus?.['pricing']).toEqual({
      input_credits_per_mtok: 5,
      output_credits_per_mtok: 25,
      cache_read_credits_per_mtok: 0.5,
      cache_write_5m_credits_per_mtok: 6.25,
      cache_write_1h_credits_per_mtok: 10,
    });
  });

  it('are found one by one, and refused when unknown', async () => {
    expect((await ask('/v1/models/llm-haiku-4.5')).body).toMatchObject({ id: 'llm-haiku-4.5' });
    const unknown = await ask('/v1/models/llm-none-1.0');
    expect(unknown.status).toBe(404);
    expect(unknown.body).toMatchObject({
      type: 'error',
      error: { type: 'not_found_error', message: 'model: llm-none-1.0', code: 'model_not_found' },
    });
  });

  it('are shown to nobody without a key', async () => {
    for (const path of ['/v1/models', '/v1/models/info', '/v1/models/haiku']) {
      expect((await ask(path, {})).status).toBe(401);
      expect((await ask(path, { 'x-api-key': 'sk-gw2-unknown' })).status).toBe(401);
    }
  });
});

describe('the OpenAPI document', () => {
  it('is valid, and names the routes that are served', async () => {
    const { status, body } = await ask('/openapi.json', {});
    expect(status).toBe(200);
    const result = await new Validator().validate(body);
    expect(result).toMatchObject({ valid: true });
    for (const [path, operations] of Object.entries(body['paths'] as Record<string, object>)) {
      for (const method of Object.keys(operations)) {
        const response = await fetch(`${gateway().url}${path.replace('{id}', 'haiku')}`, {
          method: method.toUpperCase(),
          ...(method === 'post' && { body: '{}' }),
        });
        expect([200, 401], `${method} ${path}`).toContain(response.status);
      }
    }
  });
});
