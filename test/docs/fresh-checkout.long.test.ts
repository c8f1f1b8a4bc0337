import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { createTempDir } from '../support/create-temp-dir.ts';
import { blockOf, sectionOf } from '../support/read-docs.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import { waitUntil } from '../support/wait-until.ts';

const README = readFileSync('README.md', 'utf8');
const PACKAGE = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };

/** The environment of a login shell, without the variables of Tollgate, npm and the test runner. */
function machineEnvironment(): NodeJS.ProcessEnv {
  const ours = /^(TOLLGATE_|npm_|VITEST|NODE_ENV$|NODE_OPTIONS$|TEST$|CI$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}

it('the commands of README start a fresh checkout that answers the curl line as shown', async () => {
  const start = sectionOf(README, 'Start');
  const checkout = createTempDir();
  const copied = spawnSync('sh', [
    '-c',
    `git ls-files --cached --others --exclude-standard -z | xargs -0 cp --parents -t ${checkout}`,
  ]);
  expect(copied.status).toBe(0);
  const port = await findFreePort();
  const child = spawn('sh', ['-c', blockOf(start, 'sh')], {
    cwd: checkout,
    // A separate process group, as in a terminal: Ctrl-C reaches every process in it.
    detached: true,
    env: {
      ...machineEnvironment(),
      TOLLGATE_LISTEN: `127.0.0.1:${port}`,
      TOLLGATE_OPS_LISTEN: `127.0.0.1:${await findFreePort()}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output += data;
    });
  }
  onTestFinished(async () => {
    if (child.exitCode === null) process.kill(-(child.pid ?? 0), 'SIGINT');
    await exited;
  });
  await waitUntil(
    () => {
      if (child.exitCode !== null) throw new Error(`it ended: ${output}`);
      return output.includes('Try it:');
    },
    'it listens',
    500_000,
  );
  const curl = blockOf(start, 'sh', 1).replace(':8080', `:${port}`);
  expect(output).toContain(curl.trim());
  const answered = spawnSync('sh', ['-c', curl], { encoding: 'utf8' });
  const shown = JSON.parse(blockOf(start, 'json'));
  expect(JSON.parse(answered.stdout)).toEqual({
    ...shown,
    worker: expect.any(Number),
    uptime_seconds: expect.any(Number),
  });
  expect(shown.version).toBe(PACKAGE.version);
}, 600_000);
