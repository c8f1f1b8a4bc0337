import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { type Answered, askModel, messageOf } from '../../support/clients/ask-model.ts';
import { expectAdmitted } from '../../support/clients/expect-admitted.ts';
import { type Nodes, startNodes } from '../../support/servers/start-nodes.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';

/** Longer than any burst of a test takes on a busy machine. */
const WINDOW_MS = 16_000;
const LIMIT = 60;
const cleanUp = useCleanUp();
let nodes: Nodes['nodes'];

beforeAll(async () => {
  ({ nodes } = await startNodes({
    settings: `limits: {rate_window: ${WINDOW_MS}ms}\nplans: {starter: ${LIMIT}, pro: 1000000}\n`,
    cleanUp,
  }));
});
afterAll(stopRedisServers);

/** Asks both nodes at once, and so all of their workers: every request has its own connection. */
function askAll(key: string, count: number): Promise<Answered[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      askModel(nodes[index % 2 === 0 ? 0 : 1].url, key, messageOf('Hi', { max_tokens: 1 })),
    ),
  );
}

function admitted(answers: readonly Answered[]): readonly Answered[] {
  return answers.filter(({ status }) => status === 200);
}

/** The most requests that certainly lie in one window, whenever exactly they were admitted. */
function countInOneWindow(answers: readonly Answered[]): number {
  const counts = answers.map(
    ({ sentMs }) =>
      answers.filter((a) => a.sentMs >= sentMs && a.answeredMs < sentMs + WINDOW_MS).length,
  );
  return Math.max(...counts);
}

describe.concurrent.each([
  ['a key with a limit of its own', 'pro', { rpm: LIMIT }],
  ['an account with a plan', 'starter', {}],
])('%s, on two nodes with two workers each', (_, plan, controls) => {
  it('is admitted exactly as often as its limit says, in every window', async () => {
    const account = await admin(nodes[0]).createAccount({ plan });
    const { key } = await admin(nodes[0]).createKey(account, controls);
    const all: Answered[] = [];
    for (let round = 0; round < 2; round++) {
      // A client that waits as long as it was told is admitted again. The longest wait is for the
      // last slot.
      if (round > 0) await sleep(WINDOW_MS);
      const answers = await askAll(key, 2 * LIMIT);
      all.push(...answers);
      expectAdmitted(answers, LIMIT);
      const refused = answers.filter(({ status }) => status === 429);
      const waitsMs = refused.map(({ headers }) => Number(headers.get('retry-after-ms')));
      expect(waitsMs.length).toBeGreaterThan(0);
      expect(Math.min(...waitsMs)).toBeGreaterThan(0);
      expect(Math.max(...waitsMs)).toBeLessThanOrEqual(WINDOW_MS);
    }
    expect(countInOneWindow(admitted(all))).toBeLessThanOrEqual(LIMIT);
  });
});

describe.concurrent('a refused request', () => {
  it('says how long to wait, and is admitted after that', async () => {
    const account = await admin(nodes[0]).createAccount({ plan: 'pro' });
    const { key } = await admin(nodes[0]).createKey(account, { rpm: 1 });
    const ask = () => askModel(nodes[1].url, key, messageOf('Hi', { max_tokens: 1 }));
    expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect(refused.status).toBe(429);
    expect(refused.body.error).toMatchObject({ type: 'rate_limit_error' });
    const waitMs = Number(refused.headers.get('retry-after-ms'));
    expect(Number(refused.headers.get('retry-after'))).toBe(Math.ceil(waitMs / 1_000));
    await sleep(waitMs);
    expect((await ask()).status).toBe(200);
  });

  it('takes nothing from either limit', async () => {
    const account = await admin(nodes[0]).createAccount({ plan: 'starter' });
    const small = await admin(nodes[0]).createKey(account, { rpm: 1 });
    const free = await admin(nodes[0]).createKey(account);
    const ask = (key: string) => askModel(nodes[0].url, key, messageOf('Hi', { max_tokens: 1 }));
    for (let i = 0; i < 10; i++) await ask(small.key);
    const { headers } = await ask(free.key);
    expect(headers.get('anthropic-ratelimit-requests-limit')).toBe(String(LIMIT));
    expect(headers.get('anthropic-ratelimit-requests-remaining')).toBe(String(LIMIT - 2));
  });

  it('of a key with too many requests at once is told so, and room comes back', async () => {
    const account = await admin(nodes[0]).createAccount({ plan: 'pro' });
    const { key } = await admin(nodes[0]).createKey(account, { concurrency: 2 });
    // Longer than a busy machine takes to send them all.
    const slow = messageOf('[[latency 6000]]', { max_tokens: 1 });
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => askModel(nodes[index < 3 ? 0 : 1].url, key, slow)),
    );
    expectAdmitted(answers, 2);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body.error?.message).toContain('may have 2 requests running at once');
    await admin(nodes[0]).waitUntilSettled(account);
    expect((await askModel(nodes[0].url, key, messageOf('Hi', { max_tokens: 1 }))).status).toBe(
      200,
    );
  });
});
