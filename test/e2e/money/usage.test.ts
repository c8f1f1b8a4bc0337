import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseCredits } from '../../../src/lib/units/micros.ts';
import { runHere } from '../../cli/use-cli.ts';
import { admin } from '../../support/clients/admin.ts';
import { askModel, HAIKU, messageOf, openStream } from '../../support/clients/ask-model.ts';
import { startGateway } from '../../support/servers/start-gateway.ts';
import { startRedisServer, stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { FAST_UPSTREAM, useGateway } from '../../support/use-gateway.ts';

afterAll(stopRedisServers);

const gateway = useGateway({ config: `workers: 2\n${FAST_UPSTREAM}` });

interface UsageShown {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly total: { readonly requests: number; readonly charged: number };
  readonly paid: number;
  readonly books_until: string;
}

const tokenOf = () => readFileSync(join(gateway().dataDir, 'admin-token'), 'utf8').trim();

function get(path: string) {
  const headers = { authorization: `Bearer ${tokenOf()}` };
  return fetch(`${gateway().opsUrl}/admin/v1${path}`, { headers });
}

async function exportOf(account: string) {
  const response = await get(`/ledger?account=${account}`);
  expect(response.headers.get('content-type')).toBe('application/x-ndjson');
  const lines = (await response.text()).split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as { kind: string; charged_micros: number });
}

async function createBusyAccount() {
  const operator = admin(gateway());
  const account = await operator.createAccount({ credits: 10 });
  const { id, key } = await operator.createKey(account);
  const bodies = Array.from({ length: 12 }, (_, i) => messageOf(`[[tokens ${i + 1}]]`));
  await Promise.all(bodies.map((body) => askModel(gateway().url, key, body)));
  await askModel(gateway().url, key, messageOf('[[error 500]]'));
  const stream = await openStream(gateway().url, key, messageOf('[[tokens 80]] [[slow 10]]'));
  stream.leave();
  await stream.ended;
  await operator.waitUntilSettled(account);
  await operator.waitForBooks();
  return { operator, account, id };
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

describe('usage', () => {
  it('equals the ledger, the balance and what the key spent, to the last micro-credit', async () => {
    const { operator, account, id } = await createBusyAccount();
    const entries = await exportOf(account);
    const charges = entries.filter(({ kind }) => kind !== 'topup');
    expect(charges).toHaveLength(14);
    const chargedMicros = sumOf(charges.map((entry) => entry.charged_micros));
    const { balance } = await operator.account(account);
    for (const by of ['day', 'model', 'key']) {
      const query = `/usage?account=${account}&by=${by}`;
      const { total, paid, data } = await operator.call<UsageShown>('GET', query);
      expect(total.requests).toBe(14);
      expect(parseCredits(total.charged)).toBe(chargedMicros);
      expect((parseCredits(paid) ?? 0) - chargedMicros).toBe(parseCredits(balance));
      expect(sumOf(data.map((row) => parseCredits(Number(row['charged'])) ?? 0))).toBe(
        chargedMicros,
      );
    }
    expect((await operator.key(id)).spent_this_month).toBe(chargedMicros / 1e6);
  });

  it('is printed by the command, as a table and as JSON', async () => {
    const { operator, account, id } = await createBusyAccount();
    const env = { TOLLGATE_ADMIN_URL: gateway().opsUrl, TOLLGATE_ADMIN_TOKEN: tokenOf() };
    const shown = await operator.call<UsageShown>('GET', `/usage?account=${account}&by=model`);
    const flags = ['usage', '--account', account, '--by', 'model'];
    const json = await runHere(env, ...flags, '--json');
    expect(json.code).toBe(0);
    const { books_until: _, ...sums } = shown;
    expect(JSON.parse(json.out)).toMatchObject(sums);
    const table = await runHere(env, ...flags);
    const [head, row, total] = table.out.split('\n').map((line) => line.split(/\s{2,}/));
    expect(head).toEqual([
      'model',
      'requests',
      'input',
      'cached',
      'output',
      'searches',
      'charged',
      'short',
    ]);
    expect(row?.slice(0, 2)).toEqual([HAIKU, '14']);
    expect(total?.slice(0, 2)).toEqual(['total', '14']);
    expect(table.out).toContain('paid in: 10');
    const later = await runHere(env, 'usage', '--key', id, '--from', '2090-01-01', '--json');
    expect(JSON.parse(later.out)).toMatchObject({ key: id, data: [], total: { requests: 0 } });
    expect((await runHere(env, 'usage', '--by', 'moon')).code).toBe(1);
  });

  it.each([
    ['/usage?by=moon', 400, 'must be one or 2 of day, hour,'],
    ['/usage?from=yesterday', 400, 'from: must be a time'],
    ['/usage?colour=red', 400, 'colour: there is no such field'],
    ['/usage?account=acct_000000000000', 404, 'acct_000000000000'],
    ['/ledger?key=00000000000', 404, '00000000000'],
    ['/ledger?format=xml', 400, 'format: there is no such field'],
  ])('refuses %s', async (path, status, message) => {
    const response = await get(path);
    expect(response.status).toBe(status);
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message).toContain(message);
  });

  it('says 503 while Redis is away', async () => {
    const redis = await startRedisServer();
    const env = { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` };
    const node = await startGateway({ config: `workers: 2\n${FAST_UPSTREAM}`, env });
    redis.signal('SIGSTOP');
    for (const path of ['/usage', '/ledger', `/requests/req_${'0'.repeat(24)}`]) {
      await expect(admin(node).call('GET', path)).rejects.toThrow(/503 .*books_unavailable/);
    }
    redis.signal('SIGCONT');
  });
});
