import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { admin } from '../support/clients/admin.ts';
import { askModel, HAIKU, messageOf } from '../support/clients/ask-model.ts';
import { readAdminToken } from '../support/servers/start-browser.ts';
import type { Gateway } from '../support/servers/start-gateway.ts';
import { startNodes } from '../support/servers/start-nodes.ts';
import { stopRedisServers } from '../support/servers/start-redis-server.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { waitUntil } from '../support/wait-until.ts';
import { runHere } from './use-cli.ts';

afterAll(stopRedisServers);
const cleanUp = useCleanUp();

const settingsOf = (output: number) => `workers: 1
upstreams:
  - {name: fine, kind: simulated, simulated: {tokens_per_second: 0, latency: 1ms}}
models:
  - {id: ${HAIKU}, aliases: [haiku], max_output_tokens: 8000, price: {input: 0, output: ${output}}, routes: [{upstream: fine}]}
`;

interface FleetData {
  readonly nodes: readonly { readonly id: string; readonly state: string }[];
}

async function startFleet() {
  const { nodes } = await startNodes({ workers: 1, cleanUp });
  const [one, other] = nodes;
  for (const node of nodes) node.setConfig(settingsOf(5));
  const env = { TOLLGATE_ADMIN_URL: one.opsUrl, TOLLGATE_ADMIN_TOKEN: readAdminToken(one) };
  const run = (...args: string[]) => runHere(env, ...args);
  const ids = [one.nodeId(), other.nodeId()] as const;
  const readNodes = async (): Promise<FleetData> => JSON.parse((await run('nodes', '--json')).out);
  const states = async () =>
    Object.fromEntries((await readNodes()).nodes.map(({ id, state }) => [id, state]));
  await waitUntil(async () => {
    const known = await states();
    return ids.every((id) => known[id] === 'up');
  }, 'each node is listed');
  return { one, other, ids, env, run, states };
}

let fleet: Awaited<ReturnType<typeof startFleet>>;
beforeAll(async () => {
  fleet = await startFleet();
});

it('top --all refreshes a terminal, and ends with Ctrl-C', async () => {
  const command = `stty rows 20 cols 60 && exec '${process.execPath}' dist/src/main.js top --all`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env['PATH'], ...fleet.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'close');
  let output = '';
  child.stdout.on('data', (data) => {
    output += String(data);
  });
  await waitUntil(
    () => /nodes 2 up/.test(output) && /requests\/s \d/.test(output),
    'the screen shows both nodes',
  );
  child.stdin.write('\u0003');
  expect(await exited).toEqual([0, null]);
});

it('tollgate nodes, reload --all and top --all speak of all nodes, and one that dies is gone', async () => {
  const { one, other, ids, run, states } = fleet;
  const reloaded = await run('reload', '--all');
  expect([reloaded.code, reloaded.err]).toEqual([0, '']);
  for (const id of ids) {
    expect(reloaded.out).toMatch(new RegExp(`^${id} +reloaded +[0-9a-f]{12}-2$`, 'm'));
  }

  let listed = await run('nodes');
  const rows = ids.map(
    (id) => new RegExp(`^${id} +up +\\d+[sm] +\\d+\\.\\d+\\.\\d+ .* 1/1 +1 closed +up `, 'm'),
  );
  await waitUntil(
    async () => {
      listed = await run('nodes');
      return rows.every((row) => row.test(listed.out));
    },
    () => `both have their new worker: ${listed.out}`,
  );
  expect([listed.code, listed.err]).toEqual([0, '']);
  expect(listed.out).toMatch(/^NODE +STATE +UP +VERSION +SETTINGS .* UPSTREAMS .* ADDRESS$/m);
  expect(listed.out).toContain(`answered by ${ids[0]}`);

  other.setConfig(`${settingsOf(6)}lisen: 1\n`);
  one.setConfig(settingsOf(6));
  const refused = await run('reload', '--all', '--json');
  expect([refused.code, refused.err]).toEqual([1, '']);
  expect(JSON.parse(refused.out).nodes).toContainEqual({
    ...{ id: ids[1], status: 'refused' },
    problems: [expect.stringContaining('lisen: unknown key')],
  });

  const operator = admin(one);
  const { key } = await operator.createKey(await operator.createAccount());
  let isSending = true;
  const sendAll = async ({ url }: Gateway) => {
    while (isSending) await askModel(url, key, messageOf('Hi'));
  };
  const sending = [one, other].map(sendAll);
  const top = await run('top', '--all', '--json');
  const text = await run('top', '--all');
  isSending = false;
  await Promise.all(sending);
  expect([top.code, top.err]).toEqual([0, '']);
  const view = JSON.parse(top.out);
  expect(view).toMatchObject({
    ...{ answered_by: ids[0], states: { up: 2 }, workers_up: 2, workers_wanted: 2 },
    upstreams: [{ name: 'fine' }],
    latency_seconds: { p50: expect.any(Number), p99: expect.any(Number) },
  });
  expect(view.requests_per_second).toBeGreaterThan(0);
  expect(text.out).toMatch(/^tollgate top --all {2}nodes 2 up$/m);
  expect(text.out).toMatch(/^requests\/s \d+.* open \d+/m);

  other.signal('SIGKILL');
  await waitUntil(async () => (await states())[ids[1]] === 'gone', 'the other is gone');
  const gone = await run('nodes');
  expect(gone.out).toMatch(new RegExp(`^${ids[1]} +gone, heard \\d+s ago +- `, 'm'));
});

it('top --all fails without the right token, and without a node', async () => {
  const wrong = { TOLLGATE_ADMIN_URL: 'http://127.0.0.1:1', TOLLGATE_ADMIN_TOKEN: 'any' };
  const away = await runHere(wrong, 'top', '--all');
  expect([away.code, away.out]).toEqual([1, '']);
  expect(away.err).toContain('is the node running?');
  const none = { TOLLGATE_ADMIN_URL: 'http://127.0.0.1:1', TOLLGATE_DATA_DIR: '/nowhere' };
  expect((await runHere(none, 'top', '--all')).err).toContain('there is no admin token');
});
