import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Machine } from '../../bench/compare/read-machine.ts';
import type { CaseResult } from '../../bench/compare/run-stage.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { useCleanUp } from '../support/use-clean-up.ts';

const run = promisify(execFile);
const runBench = (...args: string[]) =>
  run(process.execPath, ['dist/bench/run-scenario.js', ...args]);

describe('a comparison', { timeout: 120_000 }, () => {
  const cleanUp = useCleanUp();
  let dir = '';
  let json: { readonly machine: Machine; readonly cases: readonly CaseResult[] };

  beforeAll(async () => {
    dir = createTempDir(cleanUp);
    const narrowed = ['--quick', '--contestants', 'nginx,tollgate'];
    await runBench('few-clients', ...narrowed, '--results-dir', dir);
    json = JSON.parse(readFileSync(join(dir, 'few-clients.json'), 'utf8'));
  });

  it('measures what each request costs whom it is told to measure', () => {
    expect(json.cases).toHaveLength(2);
    for (const { figures } of json.cases) {
      expect(Object.keys(figures)).toEqual(['nginx', 'tollgate']);
      for (const { cpuMicros, unitsPerSecond, residentMb, rounds } of Object.values(figures)) {
        expect(rounds).toHaveLength(1);
        expect(cpuMicros.median).toBeGreaterThan(0);
        expect(unitsPerSecond.median).toBeGreaterThan(0);
        expect(residentMb.median).toBeGreaterThan(0);
      }
    }
  });

  it('has good answers only', () => {
    const all = json.cases.flatMap(({ figures }) => Object.values(figures));
    expect(all.map(({ failure, failures }) => ({ failure, failures }))).toEqual(
      all.map(() => ({ failure: undefined, failures: 0 })),
    );
  });

  it('tells what Redis and the primary use beside a worker', () => {
    for (const { figures } of json.cases) {
      const { redis, primary, upstream } = figures['tollgate']?.sideMicros ?? {};
      for (const spread of [redis, primary, upstream]) expect(spread?.median).toBeGreaterThan(0);
    }
  });

  it('writes a row for each contestant, and a plot', () => {
    const markdown = readFileSync(join(dir, 'few-clients.md'), 'utf8');
    for (const name of ['nginx', 'tollgate']) {
      expect(markdown.split('\n').filter((line) => line.startsWith(`| ${name} |`))).toHaveLength(2);
    }
    expect(readFileSync(join(dir, 'few-clients.svg'), 'utf8')).toContain('>tollgate</text>');
  });

  it('says what it ran on', () => {
    expect(json.machine.versions['node']).toBe(process.version);
    expect(json.machine.versions['nginx']).toMatch(/^\d+\.\d+/);
    expect(json.machine.commit).toMatch(/^[0-9a-f]{12}/);
  });
});

describe('the command line of the benchmarks', () => {
  const fail = (...args: string[]) =>
    runBench(...args).then(
      () => ({ code: 0, stderr: '' }),
      ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
    );

  it('lists every scenario', async () => {
    const { stdout } = await runBench('list');
    for (const name of ['bodies', 'stream-paced', 'few-clients', 'soak']) {
      expect(stdout).toMatch(new RegExp(`^ +${name}\\b`, 'm'));
    }
  });

  it('refuses scenarios, contestants and numbers that it does not know', async () => {
    expect((await fail('no-such-scenario')).code).toBe(2);
    const unknown = await fail('bodies', '--contestants', 'nginx,apache');
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('apache') });
    const words = await fail('bodies', '--seconds', 'many');
    expect(words).toMatchObject({ code: 2, stderr: expect.stringContaining('--seconds') });
    expect(existsSync('bench/results/no-such-scenario.json')).toBe(false);
  });
});
