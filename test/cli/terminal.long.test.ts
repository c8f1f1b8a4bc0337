import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { admin } from '../support/clients/admin.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import { useGateway } from '../support/use-gateway.ts';
import { waitUntil } from '../support/wait-until.ts';
import { runHere } from './use-cli.ts';

const gateway = useGateway({ config: 'workers: 1\n' });

/** Runs a command line in its own terminal or without a terminal. Returns its standard error. */
function readErrors(line: string, isTerminal: boolean): string {
  const command = `${process.execPath} dist/src/main.js ${line} 2>&1 >/dev/null`;
  const [program, ...args] = isTerminal
    ? ['script', '-qec', command, '/dev/null']
    : ['sh', '-c', command];
  const env = { PATH: process.env['PATH'], TOLLGATE_DATA_DIR: gateway().dataDir };
  return spawnSync(program ?? '', args, { encoding: 'utf8', env }).stdout;
}

/** The lines that a command prints to a slow reader. */
async function readSlowly(...args: readonly string[]): Promise<Record<string, unknown>[]> {
  const child = spawn(process.execPath, ['dist/src/main.js', ...args], {
    env: {
      PATH: process.env['PATH'],
      TOLLGATE_DATA_DIR: gateway().dataDir,
      TOLLGATE_ADMIN_URL: gateway().opsUrl,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  let text = '';
  for await (const bytes of child.stdout) {
    text += String(bytes);
    await sleep(5);
  }
  expect(await closed).toEqual([0, null]);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('the command line', () => {
  it('tells people how far long work is, and nobody else', () => {
    for (const [line, shown] of [
      ['ledger verify', 'accounts [###'],
      ['ledger export', 'entries\r'],
    ] as const) {
      expect(readErrors(line, true), line).toContain(shown);
      expect(readErrors(line, false), line).toBe('');
    }
  });

  it('ends quietly, and not with 0, when its reader has left', async () => {
    const child = spawn(process.execPath, ['dist/src/main.js', 'completion', 'bash']);
    let errors = '';
    child.stderr.on('data', (data) => {
      errors += data;
    });
    child.stdout.destroy();
    expect(await once(child, 'close')).toEqual([141, null]);
    expect(errors).toBe('');
  });

  it('runs a node on when nobody reads what it prints', async () => {
    const [port, opsPort] = [await findFreePort(), await findFreePort()];
    const child = spawn(process.execPath, ['dist/src/main.js', 'start'], {
      env: {
        PATH: process.env['PATH'],
        TOLLGATE_LISTEN: `127.0.0.1:${port}`,
        TOLLGATE_OPS_LISTEN: `127.0.0.1:${opsPort}`,
        TOLLGATE_DATA_DIR: createTempDir(),
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stdout.destroy();
    const exited = once(child, 'exit');
    const isReady = () =>
      fetch(`http://127.0.0.1:${opsPort}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await waitUntil(isReady, 'the node is ready');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });

  it('prints all there is to a reader that is slow', async () => {
    const payments = 1_000;
    const operator = admin(gateway());
    const account = await operator.createAccount({ credits: 0 });
    const note = 'n'.repeat(200);
    for (let n = 0; n < payments; n += 8) {
      await Promise.all(
        Array.from({ length: 8 }, (_, i) =>
          operator.call('POST', `/accounts/${account}/credits`, {
            ...{ amount: 1, id: `payment-${n + i}`, note },
          }),
        ),
      );
    }
    await operator.waitForBooks();
    const ledger = await readSlowly('ledger', 'export', '--account', account);
    expect(new Set(ledger.map(({ request }) => request)).size).toBe(payments);
    const changes = await readSlowly('audit', 'export', '--account', account);
    expect(changes.filter(({ what }) => what === 'credits.add')).toHaveLength(payments);
  });

  it('takes --json wherever data is printed', async () => {
    const { out: help } = await runHere({}, 'help');
    const groups = [...help.matchAll(/^ {2}(\w+) /gm)].map((match) => match[1] ?? '');
    expect(groups).toContain('ledger');
    const printsNoData = ['start', 'completion', 'help'];
    for (const group of groups.filter((name) => !printsNoData.includes(name))) {
      const { out } = await runHere({}, group, '--help');
      const commands = [...(out.split('Commands:')[1] ?? '').matchAll(/^ {2}(\w+) /gm)];
      const names = commands.map((match) => match[1] ?? '').filter((name) => name !== 'help');
      for (const line of names.length > 0 ? names.map((name) => [group, name]) : [[group]]) {
        const { out: text } = await runHere({}, ...line, '--help');
        expect(text, line.join(' ')).toContain('--json');
      }
    }
  });
});
