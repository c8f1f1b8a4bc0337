import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { streamBody, USAGE } from '../../support/upstreams/upstream-answers.ts';
import { useCrossing } from '../../support/upstreams/use-crossing.ts';

const { gateway, sent } = useCrossing(({ path }) => {
  const kind = path.includes('/messages') ? 'native' : 'chat';
  return { type: 'text/event-stream', body: streamBody(kind, ['One.', ' Two.'], USAGE) };
});

/** What Codex 0.169.0 sends first, with all of its tools. */
const FIRST: object = JSON.parse(
  readFileSync('test/fixtures/responses/codex-first-request.json', 'utf8'),
);
const TOOLS = [
  ...['exec_command', 'write_stdin', 'request_user_input', 'view_image'],
  ...['close_agent', 'resume_agent', 'send_input', 'spawn_agent', 'wait_agent'].map(
    (name) => `multi_agent_v1__${name}`,
  ),
  ...['get_goal', 'create_goal', 'update_goal'],
];

async function ask(model: string, key: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${gateway().url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...FIRST, model }),
  });
  return { response, text: await response.text() };
}

const CODEX = { originator: 'codex_exec', 'user-agent': 'codex_exec/0.169.0' };

describe('the first request of Codex', () => {
  it('reaches a native upstream with every tool that runs at home, and is cached', async () => {
    const { response, text } = await ask('native', gateway().key(), CODEX);
    expect([response.status, text.includes('event: response.completed')]).toEqual([200, true]);
    const { tools, system, messages } = sent() as Record<string, readonly { name: string }[]>;
    expect(tools?.map(({ name }) => name)).toEqual(TOOLS);
    expect(JSON.stringify(system)).toContain('You are a coding agent running in the Codex CLI');
    expect(JSON.stringify(messages)).toContain('What does note.txt say?');
    expect(sent()).toMatchObject({ cache_control: { type: 'ephemeral' } });
  });

  it('reaches a chat upstream in the same way', async () => {
    const { response, text } = await ask('chat', gateway().key(), CODEX);
    expect([response.status, text.includes('event: response.completed')]).toEqual([200, true]);
    const { tools } = sent() as { tools: readonly { function: { name: string } }[] };
    expect(tools.map((tool) => tool.function.name)).toEqual(TOOLS);
  });
});

describe('what Codex looks at beside answers', () => {
  it('has the limits that are used up most, and when they are free again', async () => {
    const operator = admin(gateway());
    const account = await operator.createAccount();
    const limits = [{ unit: 'tokens', window: 'day', amount: 500_000 }];
    const { key } = await operator.createKey(account, { limits, rpm: 1 });
    const first = await ask('native', key, CODEX);
    const [percent, minutes, resetAt] = ['used-percent', 'window-minutes', 'reset-at'].map((name) =>
      Number(first.response.headers.get(`x-codex-primary-${name}`)),
    );
    expect(percent).toBeGreaterThan(0);
    expect(percent).toBeLessThan(50);
    expect(minutes).toBe(24 * 60);
    expect(resetAt).toBeGreaterThan(Date.now() / 1_000);
    // It waits as long as it is told.
    const { response, text } = await ask('native', key, CODEX);
    expect([response.status, JSON.parse(text).error.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('has the credits that are left', async () => {
    const operator = admin(gateway());
    const { key } = await operator.createKey(await operator.createAccount({ credits: 7.5 }));
    const { headers } = (await ask('native', key, CODEX)).response;
    const told = ['has-credits', 'unlimited', 'balance'].map((name) =>
      headers.get(`x-codex-credits-${name}`),
    );
    expect(told).toEqual(['true', 'false', '7.5']);
  });

  it('tells it at once that credits are used up, as it repeats what is refused with 402', async () => {
    const operator = admin(gateway());
    const { key } = await operator.createKey(await operator.createAccount({ credits: 0 }));
    const refused = await ask('native', key, CODEX);
    expect([refused.response.status, JSON.parse(refused.text).error]).toEqual([
      429,
      expect.objectContaining({ type: 'insufficient_quota', code: 'insufficient_quota' }),
    ]);
    expect(refused.response.headers.get('retry-after')).toBeNull();
    expect((await ask('native', key)).response.status).toBe(402);
  });

  it('lists models in the form that it asks for', async () => {
    const headers = { authorization: `Bearer ${gateway().key()}` };
    const list = async (query: string) =>
      (await (await fetch(`${gateway().url}/v1/models${query}`, { headers })).json()) as object;
    expect(await list('?client_version=0.169.0')).toMatchObject({ object: 'list', models: [] });
    expect(await list('')).not.toHaveProperty('models');
  });

  it('refuses a WebSocket with 426, so that it sends its request at once', async () => {
    const headers = {
      ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
      ...{ 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
    };
    const asked = request(`${gateway().url}/v1/responses`, { headers });
    const status = await new Promise((resolve, reject) => {
      asked.on('response', (response) => resolve(response.resume().statusCode));
      asked.on('error', reject);
      asked.end();
    });
    expect(status).toBe(426);
    expect((await fetch(`${gateway().url}/v1/responses`)).status).toBe(405);
  });
});
