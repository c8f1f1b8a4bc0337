import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { runProgram } from '../../cli/use-cli.ts';
import { askModel, messageOf, openStream } from '../../support/clients/ask-model.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { FAST_UPSTREAM } from '../../support/use-gateway.ts';

/** Sends one request after the other until the test ends. Some of them fail. */
async function keepAsking(gateway: Gateway): Promise<void> {
  let isOver = false;
  const ask = async () => {
    for (let n = 0; !isOver; n++) {
      const text = n % 5 === 0 ? '[[error 500]]' : 'Hi [[tokens 20]]';
      await askModel(gateway.url, gateway.key(), messageOf(text));
    }
  };
  const asking = ask();
  const stream = await openStream(
    gateway.url,
    gateway.key(),
    messageOf('[[slow 50]] [[tokens 8000]]', { max_tokens: 8_000 }),
  );
  onTestFinished(async () => {
    isOver = true;
    stream.leave();
    await Promise.all([asking, stream.ended]);
  });
}

const TIME_MAX_MS = 120_000;

const pidOf = (gateway: Gateway, slot: number) =>
  gateway.logLines().find(({ msg, worker }) => msg === 'worker listens' && worker === slot)?.[
    'workerPid'
  ];

const positive = expect.toSatisfy((value: unknown) => typeof value === 'number' && value > 0);
const quantiles = { p50: positive, p99: positive };
const notNegative = expect.toSatisfy((value: unknown) => typeof value === 'number' && value >= 0);

it('tollgate top --json knows every figure of a node that is at work', async () => {
  const gateway = await startGateway({ config: `workers: 2\n${FAST_UPSTREAM}` });
  await keepAsking(gateway);
  const env = {
    TOLLGATE_ADMIN_URL: gateway.opsUrl,
    TOLLGATE_ADMIN_TOKEN: readFileSync(join(gateway.dataDir, 'admin-token'), 'utf8').trim(),
  };
  // On a loaded machine a single second may miss something.
  await vi.waitFor(
    async () => {
      const { code, out, err } = await runProgram(env, 'top', '--json');
      expect([code, err]).toEqual([0, '']);
      const worker = { state: 'listening', in_flight: notNegative, uptime_seconds: notNegative };
      expect(JSON.parse(out)).toEqual({
        node: expect.any(String),
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        problems: [],
        requests_per_second: positive,
        errors_per_second: positive,
        streams: 1,
        tokens_per_second: positive,
        credits_per_second: positive,
        latency_seconds: quantiles,
        first_token_seconds: quantiles,
        redis: { state: 'up', latency_seconds: quantiles },
        holds: positive,
        settle_queue: notNegative,
        settle_journal: 0,
        upstreams: [
          {
            name: 'simulated',
            state: 'closed',
            in_flight: positive,
            in_flight_max: positive,
            tries_per_second: positive,
            failures_per_second: notNegative,
          },
        ],
        workers_memory_bytes: positive,
        workers_lag_seconds: quantiles,
        workers: [1, 2].map((slot) => ({ ...worker, worker: slot, pid: pidOf(gateway, slot) })),
      });
    },
    { timeout: TIME_MAX_MS },
  );
});
