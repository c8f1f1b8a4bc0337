import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startHeldServer } from '../load/start-held-server.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import { runHere } from './use-cli.ts';

const PROGRAM = 'dist/src/main.js';
const ENV = { TOLLGATE_KEY: 'sk-gw2-of-the-test' };
const CLEAR_LINE = '\r\u001b[K';
const SHORT = ['--rate', '20', '--seconds', '0.2'];
const RATE = 200;
const STALL_MS = 1_000;

interface BenchShown {
  readonly completed: number;
  readonly histogram: readonly { readonly up_to_ms: number; readonly count: number }[];
}

describe('tollgate bench', () => {
  it('shows a stall in the times of all who were due in it, not only of those who were sent', async () => {
    const { url } = await startHeldServer({
      onAsked(asked, server) {
        if (asked !== RATE / 2) return;
        server.hold();
        setTimeout(server.release, STALL_MS);
      },
    });
    const load = ['--rate', String(RATE), '--seconds', '2', '--connections', '2'];
    const { code, out } = await runHere(ENV, 'bench', '--url', url, ...load, '--json');
    const { completed, histogram } = JSON.parse(out) as BenchShown;
    const slow = histogram.filter(({ up_to_ms }) => up_to_ms >= STALL_MS / 2);
    const dueInHalf = (RATE * STALL_MS) / 2 / 1_000;
    expect(slow.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThanOrEqual(dueInHalf - 1);
    expect([code, completed]).toEqual([0, 2 * RATE]);
  });

  it('tells what the key was charged when nothing of it is held any more', async () => {
    const keyAnswers = [{}, { held: 0.5 }, { spent_this_month: 1.1, held: 0.1 }];
    const { url } = await startHeldServer({
      keyAnswers: [...keyAnswers, { spent_this_month: 1.3 }],
    });
    const { out } = await runHere(ENV, 'bench', '--url', url, ...SHORT);
    expect(out).toMatch(/\ncharged: 0\.3 credits\n$/);
  });

  it('does not tell it over the end of a month', async () => {
    const keyAnswers = [{}, { month: '202602', spent_this_month: 0.1 }];
    const { url } = await startHeldServer({ keyAnswers });
    const { code, out } = await runHere(ENV, 'bench', '--url', url, ...SHORT);
    expect([code, out]).toEqual([0, expect.stringMatching(/\ncharged: unknown\n$/)]);
  });

  it('says where to get a key when there is none, and sends nothing', async () => {
    const server = await startHeldServer();
    const env = { TOLLGATE_DATA_DIR: createTempDir() };
    const { code, out, err } = await runHere(env, 'bench', '--url', server.url);
    expect([code, out, server.asked()]).toEqual([1, '', 0]);
    expect(err).toContain('TOLLGATE_KEY');
    expect(err).toContain('tollgate key create');
    expect(err).toContain(`${env.TOLLGATE_DATA_DIR}/demo-key`);
  });

  it('fails at once when no gateway is there', async () => {
    const url = `http://127.0.0.1:${await findFreePort()}`;
    const { code, out, err } = await runHere(ENV, 'bench', '--url', url);
    expect([code, out]).toEqual([1, '']);
    expect(err).toBe(
      `tollgate: cannot reach the gateway at ${url}: is it running? For another one, set --url\n`,
    );
  });

  it('refuses values that make no load', async () => {
    for (const args of [
      ['--rate', '0'],
      ['--rate', 'many'],
      ['--seconds', '-1'],
      ['--connections', '0'],
      ['--body-bytes', '1e3'],
      ['--format', 'soap'],
      ['--url', '127.0.0.1:8080'],
      ['--rate', '1', '--seconds', '0.1'],
    ]) {
      const { code, err } = await runHere(ENV, 'bench', ...args);
      expect([code, err], args.join(' ')).toEqual([2, expect.stringContaining('error: ')]);
    }
  });

  it('says in its help that credits are spent', async () => {
    const { code, out } = await runHere({}, 'bench', '--help');
    expect(code).toBe(0);
    expect(out).toContain('spends credits');
    expect(out).toContain('it is charged for them');
  });

  it('tells a terminal how far it is, and takes that away in the end', async () => {
    const { url } = await startHeldServer();
    const command = `'${process.execPath}' ${PROGRAM} bench --url ${url} --rate 20 --seconds 2`;
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { PATH: process.env['PATH'], ...ENV },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    child.stdout.on('data', (data) => {
      output += String(data);
    });
    expect(await once(child, 'close')).toEqual([0, null]);
    const [progress = '', ...rest] = output.split(CLEAR_LINE);
    expect(progress).toMatch(/^\d+ of 40 sent, \d+ answered, 0 failed$/);
    expect(rest.at(-1)).toMatch(/^sent .*\s+answered +200: 40\s/);
  });
});
