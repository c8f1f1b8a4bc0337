import { describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { askModel, messageOf } from '../../support/clients/ask-model.ts';
import { startGateway } from '../../support/servers/start-gateway.ts';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

const configOf = (opus: string, haiku: string) => `${FAST_CONFIG}
models:
  - {id: big, aliases: [opus, ${opus}], max_output_tokens: 500, price: {input: 5, output: 25}}
  - {id: small, aliases: [claude-opus-mini, ${haiku}], max_output_tokens: 500, price: {input: 1, output: 5}}
`;
const gateway = useGateway({ config: configOf('claude-opus-*', 'claude-*') });

interface KeyShown {
  readonly id: string;
  readonly key: string;
  readonly models: readonly string[];
}

async function createKey(models?: readonly string[], at = gateway()): Promise<KeyShown> {
  const operator = admin(at);
  const account = await operator.createAccount();
  return await operator.call('POST', `/accounts/${account}/keys`, models && { models });
}

/** The model that answers, or the status. */
async function servedBy(key: string, model: string, { at = gateway(), path = '' } = {}) {
  const response = await fetch(`${at.url}/v1/messages${path}`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'llm-version': '2023-06-01', 'content-type': 'application/json' },
    body: JSON.stringify(messageOf('Hi', { model, max_tokens: 20 })),
  });
  const body = (await response.json()) as { readonly model?: string };
  return response.status === 200 ? body.model : response.status;
}

async function get(path: string, key: string) {
  const response = await fetch(`${gateway().url}${path}`, { headers: { 'x-api-key': key } });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('an alias with a star', () => {
  it('stands for all names that it matches; exact names win over it, and long ones over short', async () => {
    const { key } = await createKey();
    expect(await servedBy(key, 'claude-opus-5-5')).toBe('big');
    expect(await servedBy(key, 'claude-opus-')).toBe('big');
    expect(await servedBy(key, 'claude-haiku-4-5-20251001')).toBe('small');
    expect(await servedBy(key, 'claude-opus-mini')).toBe('small');
    for (const unknown of [
      'claude',
      'my-claude-opus-5',
      'CLAUDE-OPUS-5',
      '',
      `x${'-'.repeat(200)}`,
    ]) {
      expect(await servedBy(key, unknown), unknown).toBeOneOf([400, 404]);
    }
  });

  it('is in no list of models, but what it matches is found by its name', async () => {
    const { key } = await createKey();
    const { body } = await get('/v1/models', key);
    const ids = (body['data'] as { id: string }[]).map(({ id }) => id);
    expect(ids).toEqual(['big', 'small', 'opus', 'claude-opus-mini']);
    expect((await get('/v1/models/claude-opus-5-5', key)).body).toMatchObject({
      id: 'claude-opus-5-5',
      alias_for: 'big',
    });
    expect(await admin(gateway()).call('GET', '/models')).toMatchObject({
      data: [{ aliases: ['opus', 'claude-opus-*'] }, { aliases: ['claude-opus-mini', 'claude-*'] }],
    });
  });

  it('opens no model that the key may not use', async () => {
    const { key } = await createKey(['small']);
    expect(await servedBy(key, 'claude-haiku-4-5-20251001')).toBe('small');
    for (const name of ['claude-opus-5-5', 'opus', 'big', 'claude-opus-*']) {
      expect(await servedBy(key, name), name).toBe(403);
      expect((await get(`/v1/models/${name}`, key)).status, name).toBe(404);
      expect(await servedBy(key, name, { path: '/count_tokens' }), name).toBe(403);
    }
  });

  it('is counted and receipted under the pinned id', async () => {
    const operator = admin(gateway());
    const account = await operator.createAccount();
    const { key } = await operator.createKey(account);
    const body = messageOf('Hi', { model: 'claude-opus-5-5', max_tokens: 20 });
    const answer = await askModel(gateway().url, key, body);
    await operator.waitUntilSettled(account);
    const requestId = answer.headers.get('request-id');
    expect(await operator.call('GET', `/requests/${requestId}`)).toMatchObject({ model: 'big' });
  });

  it('puts the pinned id into the models of a key, which stays when the pattern moves', async () => {
    const moving = await startGateway({ config: configOf('claude-opus-*', 'claude-haiku-*') });
    const { id, key, models } = await createKey(
      ['claude-opus-5-5', 'claude-opus-*', 'opus'],
      moving,
    );
    expect(models).toEqual(['big', 'big', 'opus']);
    const operator = admin(moving);
    expect(await operator.setKey(id, { models: ['claude-opus-7'] })).toMatchObject({
      models: ['big'],
    });
    expect(await servedBy(key, 'claude-opus-7', { at: moving })).toBe('big');
    moving.setConfig(configOf('claude-haiku-*', 'claude-opus-*'));
    await operator.call('POST', '/reload', {});
    // An old worker still answers on its open connections after the reload.
    const isMoved = async () => (await servedBy(key, 'claude-opus-7', { at: moving })) === 403;
    await waitUntil(isMoved, 'the pattern has moved');
    const isBig = async () => (await servedBy(key, 'claude-haiku-7', { at: moving })) === 'big';
    await waitUntil(isBig, 'the other pattern has come');
  });
});
