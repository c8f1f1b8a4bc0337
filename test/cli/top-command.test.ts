import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '../support/servers/find-free-port.ts';
import { waitUntil } from '../support/wait-until.ts';
import { CLUSTER, metricsText } from '../unit/top/top-scene.ts';
import { runHere } from './use-cli.ts';

const PROGRAM = 'dist/src/main.js';
const TOKEN = 'token-of-the-test';
const OTHER_SCREEN = '\u001b[?1049h\u001b[?25l';
const NEXT_FRAME = '\u001b[H\u001b[J';
const AS_BEFORE = '\u001b[?25h\u001b[?1049l';

/** Pages like those of a node, whose counts grow with the clock. A path can be declared missing. */
async function startPages(missing = ''): Promise<string> {
  const startMs = performance.now();
  const server: Server = createServer((request, response) => {
    if (request.url === missing) response.writeHead(404).end('{}');
    else if (request.url === '/metrics') {
      response.end(metricsText((performance.now() - startMs) / 1_000));
    } else if (request.headers.authorization === `Bearer ${TOKEN}`) {
      response.end(JSON.stringify(CLUSTER));
    } else response.writeHead(401).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const env = (url: string, token = TOKEN) => ({
  TOLLGATE_ADMIN_URL: url,
  TOLLGATE_ADMIN_TOKEN: token,
});

it('prints one snapshot with rates where there is no terminal, as text and as JSON', async () => {
  const url = await startPages();
  const { code, out, err } = await runHere(env(url), 'top');
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/^tollgate top {2}node node-1/);
  expect(out).toMatch(/^requests\/s \d+.* streams 7$/m);
  expect(out).not.toContain('\u001b');
  const json = await runHere(env(url), 'top', '--json');
  expect(JSON.parse(json.out)).toMatchObject({
    node: 'node-1',
    problems: [],
    requests_per_second: expect.any(Number),
    workers: [{ pid: 101 }, { pid: 102 }],
  });
});

it('shows what it gets when the metrics are missing, and says so', async () => {
  const noMetrics = await runHere(env(await startPages('/metrics')), 'top');
  expect(noMetrics.code).toBe(0);
  expect(noMetrics.out).toContain('! /metrics answers with status 404');
  expect(noMetrics.out).toMatch(/^requests\/s - .* streams -$/m);
});

it.each([['top'], ['top', '--json']])(
  'fails with a wrong token, or without one, and says what to do: %s %s',
  async (...command) => {
    const url = await startPages();
    const wrong = await runHere(env(url, 'wrong'), ...command);
    expect([wrong.code, wrong.out]).toEqual([1, '']);
    expect(wrong.err).toContain(`the token is wrong for ${url}: set TOLLGATE_ADMIN_TOKEN`);
    const folder = { TOLLGATE_ADMIN_URL: url, TOLLGATE_DATA_DIR: '/nowhere' };
    const none = await runHere(folder, ...command);
    expect([none.code, none.out]).toEqual([1, '']);
    expect(none.err).toContain('there is no admin token');
  },
);

it('fails when no node is there', async () => {
  const { code, out, err } = await runHere(env(`http://127.0.0.1:${await findFreePort()}`), 'top');
  expect([code, out]).toEqual([1, '']);
  expect(err).toContain('cannot reach the node');
});

it('refreshes a terminal, and restores it on Ctrl-C', async () => {
  const url = await startPages();
  const command = `stty rows 12 cols 40 && exec '${process.execPath}' ${PROGRAM} top`;
  // `script` gives the program its own terminal and passes keys on to it.
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env['PATH'], ...env(url) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'close');
  let output = '';
  child.stdout.on('data', (data) => {
    output += String(data);
  });
  await waitUntil(
    () => /requests\/s \d/.test(output) && output.split(NEXT_FRAME).length > 3,
    'the screen was shown a third time',
  );
  expect(output.startsWith(OTHER_SCREEN)).toBe(true);
  child.stdin.write('\u0003');
  expect(await exited).toEqual([0, null]);
  expect(output.endsWith(AS_BEFORE)).toBe(true);
  const frames = output.slice(0, -AS_BEFORE.length).split(NEXT_FRAME).slice(1);
  for (const frame of frames) {
    // The terminal adds a carriage return before each line feed.
    const lines = frame.replace('^C', '').split(/\r+\n/);
    expect(lines.length).toBeLessThanOrEqual(12);
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(40);
  }
});
