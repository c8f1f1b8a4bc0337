import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { askModel, messageOf } from '../../support/clients/ask-model.ts';
import { scrape } from '../../support/clients/scrape.ts';
import { createTempDir } from '../../support/create-temp-dir.ts';
import { findFreePort } from '../../support/servers/find-free-port.ts';
import { startCollector } from '../../support/servers/start-collector.ts';
import { startGateway } from '../../support/servers/start-gateway.ts';
import { FAST_CONFIG } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

const SPANS_PER_REQUEST = 3;
const ASKS = 4;

it('/metrics counts spans that the collector does not take, and no others', async () => {
  const collector = await startCollector({
    answer: (number) => (number === 1 ? 200 : 400),
    cleanUp: onTestFinished,
  });
  const gateway = await startGateway({
    config: `${FAST_CONFIG}tracing: {endpoint: "${collector.endpoint}"}\n`,
  });
  const dropped = async () => (await scrape(gateway)).sum('tollgate_spans_dropped_total');
  await askModel(gateway.url, gateway.key(), messageOf('Hi'));
  await waitUntil(() => collector.spans.length === SPANS_PER_REQUEST, 'the first are taken');
  expect(await dropped()).toBe(0);
  for (let i = 0; i < ASKS; i++) await askModel(gateway.url, gateway.key(), messageOf('Hi'));
  await waitUntil(
    async () => (await dropped()) === ASKS * SPANS_PER_REQUEST,
    'the others are counted',
  );
});

/** A node whose log goes to a place that cannot be written. */
async function startWithoutLog(config: string) {
  const dir = createTempDir();
  const configPath = join(dir, 'tollgate.yaml');
  writeFileSync(configPath, config);
  const [port, opsPort] = [await findFreePort(), await findFreePort()];
  const child = spawn(process.execPath, ['dist/src/main.js', 'start', '--config', configPath], {
    env: {
      PATH: process.env['PATH'],
      TOLLGATE_LISTEN: `127.0.0.1:${port}`,
      TOLLGATE_OPS_LISTEN: `127.0.0.1:${opsPort}`,
      TOLLGATE_DATA_DIR: join(dir, 'data'),
    },
    stdio: ['ignore', 'pipe', openSync('/dev/full', 'w')],
  });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  let output = '';
  child.stdout?.on('data', (data) => {
    output += String(data);
  });
  await waitUntil(() => {
    if (child.exitCode !== null) throw new Error(`the node ended: ${output}`);
    return output.includes('Try it:');
  }, 'the node listens');
  return {
    url: `http://127.0.0.1:${port}`,
    opsUrl: `http://127.0.0.1:${opsPort}`,
    key: readFileSync(join(dir, 'data', 'demo-key'), 'utf8').trim(),
  };
}

it('/metrics counts lines of the request log that cannot be written', async () => {
  const node = await startWithoutLog(`${FAST_CONFIG}log_level: error\nrequest_log: all\n`);
  const dropped = async () => (await scrape(node)).sum('tollgate_request_log_lines_dropped_total');
  expect(await dropped()).toBe(0);
  for (let i = 0; i < ASKS; i++) {
    expect((await askModel(node.url, node.key, messageOf('Hi'))).status).toBe(200);
  }
  await waitUntil(async () => (await dropped()) === ASKS, 'each line is counted');
});
