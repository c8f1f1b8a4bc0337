import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../../cli/use-cli.ts';
import { admin } from '../../support/clients/admin.ts';
import { askModel, messageOf, openStream } from '../../support/clients/ask-model.ts';
import { type Scrape, scrape } from '../../support/clients/scrape.ts';
import { isAlive } from '../../support/is-alive.ts';
import type { Gateway } from '../../support/servers/start-gateway.ts';
import { FAST_UPSTREAM, useGateway } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

const TWO_WORKERS = `workers: 2\n${FAST_UPSTREAM}`;
const ADMITTED = ['tollgate_admissions_total', { outcome: 'admitted' }] as const;

/** Each request has its own connection, so that all workers get some. */
async function ask(gateway: Gateway, times: number, text = 'hi'): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < times; i++) {
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: {
        'x-api-key': gateway.key(),
        'llm-version': '2023-06-01',
        'content-type': 'application/json',
        connection: 'close',
      },
      body: JSON.stringify(messageOf(text)),
    });
    await response.text();
    statuses.push(response.status);
  }
  return statuses;
}

function waitForSum(gateway: Gateway, value: number, ...series: Parameters<Scrape['sum']>) {
  return waitUntil(
    async () => (await scrape(gateway)).sum(...series) === value,
    `${series[0]} is ${value}`,
  );
}

/** A page with the metrics of both workers: a busy worker may miss a scrape. */
async function scrapeAll(gateway: Gateway): Promise<Scrape> {
  let page = await scrape(gateway);
  await waitUntil(async () => {
    page = await scrape(gateway);
    return page.sum('tollgate_workers') === 2;
  }, 'both workers tell their metrics');
  return page;
}

describe('/metrics of the ops listener', () => {
  const node = useGateway({ config: TWO_WORKERS });
  const countAdmitted = async () => (await scrapeAll(node())).sum(...ADMITTED) ?? 0;

  it('sums over workers, and never goes backwards when one is killed', async () => {
    const gateway = node();
    await ask(gateway, 40);
    const first = await scrapeAll(gateway);
    expect(first.contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(first.sum(...ADMITTED)).toBe(40);
    expect(first.sum('tollgate_admission_seconds_count')).toBe(40);
    expect(first.sum('tollgate_worker_restarts_total')).toBe(0);

    const [victim = 0] = gateway.workerPids();
    process.kill(victim, 'SIGKILL');
    const seen: (number | undefined)[] = [];
    await waitUntil(async () => {
      const page = await scrape(gateway);
      seen.push(page.sum(...ADMITTED));
      return page.sum('tollgate_worker_restarts_total') === 1 && page.sum('tollgate_workers') === 2;
    }, 'the worker is replaced');
    expect(new Set(seen)).toEqual(new Set([40]));

    await ask(gateway, 10);
    expect((await scrapeAll(gateway)).sum(...ADMITTED)).toBe(50);
  });

  it('goes on without a worker that does not answer, with what it counted before', async () => {
    const gateway = node();
    await ask(gateway, 20);
    const admitted = await countAdmitted();
    expect(admitted).toBeGreaterThanOrEqual(20);
    const [stopped = 0] = gateway.workerPids();
    process.kill(stopped, 'SIGSTOP');
    try {
      await waitForSum(gateway, 1, 'tollgate_workers');
      const page = await scrape(gateway);
      expect(page.sum(...ADMITTED)).toBe(admitted);
      expect(page.sum('tollgate_workers_silent_total')).toBeGreaterThan(1);
    } finally {
      process.kill(stopped, 'SIGCONT');
    }
    await waitForSum(gateway, 2, 'tollgate_workers');
  });

  it('has what replaced workers counted, although nobody had asked them for it', async () => {
    const gateway = node();
    const before = await countAdmitted();
    const oldPids = gateway.workerPids();
    await ask(gateway, 20);
    gateway.signal('SIGHUP');
    await gateway.waitForLog(/"msg":"reloaded"/);
    await waitUntil(() => oldPids.every((pid) => !isAlive(pid)), 'the old workers have ended');
    await waitForSum(gateway, before + 20, ...ADMITTED);
    await ask(gateway, 5);
    const page = await scrapeAll(gateway);
    expect(page.sum(...ADMITTED)).toBe(before + 25);
    expect(page.sum('tollgate_reloads_total', { result: 'ok' })).toBe(1);
  });
});

describe('/metrics of a node that nobody reloads', () => {
  const node = useGateway({ config: TWO_WORKERS });

  it('tells what Redis, upstreams and settlements do', async () => {
    const gateway = node();
    // They are there before the first event, so that an alert sees it as an increase.
    const fresh = await scrapeAll(gateway);
    expect(fresh.sum('tollgate_usage_implausible_total', { upstream: 'simulated' })).toBe(0);
    expect(fresh.sum('tollgate_upstream_tries_total', { result: 'broken' })).toBe(0);
    expect(await ask(gateway, 3)).toEqual([200, 200, 200]);
    await waitForSum(gateway, 3, 'tollgate_settlements_total', { kind: 'charge' });
    const [status = 0] = await ask(gateway, 1, '[[error 500]]');
    expect(status).toBeGreaterThanOrEqual(500);
    await waitForSum(gateway, 1, 'tollgate_settlements_total', { kind: 'release' });
    const page = await scrapeAll(gateway);
    expect(page.sum('tollgate_upstream_tries_total', { result: 'ok' })).toBe(3);
    // The request itself causes an error that its prompt asks for, so it is not retried.
    expect(page.sum('tollgate_upstream_tries_total', { result: 'refused' })).toBe(1);
    expect(page.sum('tollgate_upstream_state')).toBe(2);
    expect(page.sum('tollgate_credits_settled_total')).toBeGreaterThan(0);
    expect(page.sum('tollgate_redis_up')).toBe(1);

    const redisPid = Number(gateway.logLines().findLast((line) => line['redisPid'])?.['redisPid']);
    process.kill(redisPid, 'SIGSTOP');
    try {
      await waitForSum(gateway, 0, 'tollgate_redis_up');
      expect(await ask(gateway, 1)).toEqual([503]);
      const out = await scrapeAll(gateway);
      expect(out.sum('tollgate_admissions_total', { outcome: 'unavailable' })).toBe(1);
      expect(out.sum('tollgate_redis_errors_total', { kind: 'outage' })).toBeGreaterThan(0);
    } finally {
      process.kill(redisPid, 'SIGCONT');
    }
    await waitForSum(gateway, 1, 'tollgate_redis_up');
  });

  it('tells of each admission that was refused why', async () => {
    const gateway = node();
    const operator = admin(gateway);
    for (const [outcome, statuses, controls] of [
      ['limit', [200, 429], { limits: [{ unit: 'requests', window: '1h', amount: 1 }] }],
      ['too_large', [400, 400], { limits: [{ unit: 'input_tokens', window: 'day', amount: 1 }] }],
      ['user_missing', [400, 400], { require_user: true }],
    ] as const) {
      const { key } = await operator.createKey(await operator.createAccount(), controls);
      const ask = async () => (await askModel(gateway.url, key, messageOf('hi'))).status;
      expect([await ask(), await ask()], outcome).toEqual(statuses);
      const count = statuses.filter((status) => status !== 200).length;
      await waitForSum(gateway, count, 'tollgate_admissions_total', { outcome });
    }
    const page = await scrapeAll(gateway);
    expect(page.sum('tollgate_admissions_total', { outcome: 'other' })).toBeUndefined();
  });

  it('tells what waits for people, until they move it away', async () => {
    const gateway = node();
    await waitForSum(gateway, 0, 'tollgate_unsettled_bytes');
    const file = join(gateway.dataDir, 'journal', 'unsettled.ndjson');
    writeFileSync(file, '{}\n');
    await waitForSum(gateway, 3, 'tollgate_unsettled_bytes');
    rmSync(file);
    await waitForSum(gateway, 0, 'tollgate_unsettled_bytes');
  });

  it('tells of open streams, and how long a revocation takes to be heard', async () => {
    const gateway = node();
    const operator = admin(gateway);
    const account = await operator.createAccount();
    const { id, key } = await operator.createKey(account);
    const stream = await openStream(
      gateway.url,
      key,
      messageOf('[[slow 50]] [[tokens 2000]]', { max_tokens: 2_000 }),
    );
    const page = await scrapeAll(gateway);
    expect(page.sum('tollgate_streams_active')).toBe(1);
    expect(page.sum('tollgate_holds_active')).toBe(1);
    expect(page.sum('tollgate_upstream_in_flight', { upstream: 'simulated' })).toBe(1);

    await operator.revoke(id);
    await stream.ended;
    await waitForSum(gateway, 2, 'tollgate_revocation_propagation_seconds_count', {
      subject: 'key',
    });
    for (const name of ['streams_active', 'holds_active', 'exchanges_active']) {
      await waitForSum(gateway, 0, `tollgate_${name}`);
    }
  });

  it('shows what the last check of the ledger has found', async () => {
    const gateway = node();
    await waitForSum(gateway, 1, 'tollgate_books_ingesting');
    await waitForSum(gateway, 0, 'tollgate_books_holds_unsettled');
    expect((await scrape(gateway)).sum('tollgate_books_drifts')).toBeUndefined();
    await waitUntil(async () => {
      const env = { TOLLGATE_DATA_DIR: gateway.dataDir };
      const verify = ['ledger', 'verify', '--config', gateway.configPath];
      return (await runProgram(env, ...verify)).code === 0;
    }, 'the ledger is found clean');
    await waitForSum(gateway, 0, 'tollgate_books_drifts');
    const page = await scrape(gateway);
    expect(page.sum('tollgate_books_holds_unsettled')).toBe(0);
    expect(page.sum('tollgate_books_verified_timestamp_seconds')).toBeGreaterThan(1.7e9);
  });
});
