import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CHECKS } from '../../src/doctor/checks.ts';
import { judgeNodeVersion } from '../../src/doctor/machine/check-build.ts';
import { judgeFreeSpace } from '../../src/doctor/machine/check-data-folder.ts';
import {
  judgeAcceptQueue,
  judgeOpenFiles,
  judgeWorkerCount,
  judgeWorkerMemory,
} from '../../src/doctor/machine/judge-machine.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import { examine, problem, writeSettings } from './examine.ts';

const PROGRAM = 'dist/src/main.js';
const MEBIBYTE = 1024 ** 2;

describe('tollgate doctor', () => {
  it('runs every check without a node, and makes nothing', async () => {
    const configPath = await writeSettings({});
    const args = [PROGRAM, 'doctor', '--json', '--config', configPath];
    const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    const { ok, checks } = JSON.parse(stdout) as {
      ok: boolean;
      checks: { name: string; state: string }[];
    };
    expect(new Set(checks.map(({ name }) => name))).toEqual(new Set(Object.keys(CHECKS)));
    expect(checks.filter(({ state }) => state === 'failed')).toEqual([]);
    expect([ok, status]).toEqual([true, 0]);
    expect(existsSync(join(configPath, '../data'))).toBe(false);
  });

  it('prints a table with what to do, and answers 1 when something failed', async () => {
    const dir = createTempDir();
    const configPath = join(dir, 'tollgate.yaml');
    writeFileSync(configPath, 'workers: 0\nlisen: 1\n');
    const args = [PROGRAM, 'doctor', '--config', configPath];
    const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stdout).toMatch(/^settings +failed +.*:1: workers: must be/m);
    expect(stdout).toMatch(/^ +.*:2: lisen: unknown key/m);
    expect(stdout).toMatch(/^ +→ Fix each/m);
    expect(stdout).toMatch(/^redis-writes +skipped +the settings cannot be used/m);
    expect(stdout).toMatch(/^node-version +ok/m);
  });

  it('warns of a short admin token, without showing it', async () => {
    const configPath = await writeSettings({});
    const args = [PROGRAM, 'doctor', '--json', '--config', configPath];
    const env = { ...process.env, TOLLGATE_ADMIN_TOKEN: 'hunter2' };
    const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
    const { checks } = JSON.parse(stdout) as { checks: { name: string }[] };
    expect(checks.find(({ name }) => name === 'admin-token')).toMatchObject(
      problem('warning', 'ops.admin_token has 7 characters', 'at least 20'),
    );
    expect(stdout).not.toContain('hunter2');
  });

  it('finds that a process may open too few files', async () => {
    const configPath = await writeSettings({});
    const command = `ulimit -n 300 && exec '${process.execPath}' ${PROGRAM} doctor --json --config ${configPath}`;
    const { stdout, status } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
    expect(status).toBe(0);
    const { checks } = JSON.parse(stdout) as { checks: { name: string }[] };
    expect(checks.find(({ name }) => name === 'open-files')).toMatchObject(
      problem('warning', '300 for each process', 'Raise it to at least'),
    );
  });
});

it('fails ports that other programs hold, and leaves them alone', async () => {
  const port = await findFreePort();
  const server = createServer((_, response) => void response.end('{"status":"ok"}'));
  server.listen(port, '127.0.0.1');
  onTestFinished(() => void server.close());
  const find = await examine({ port });
  expect(find('listen-port')).toEqual(problem('failed', 'another program', 'another address'));
  expect(find('ops-port')).toEqual({ state: 'ok', found: expect.stringContaining('is free') });
});

it('fails an address that is not of this machine', async () => {
  const find = await examine({ host: '192.0.2.1' });
  expect(find('listen-port')).toEqual(problem('failed', 'EADDRNOTAVAIL', 'of this machine'));
});

it('fails a data folder that takes no files, and leaves none in one that does', async () => {
  const dir = createTempDir();
  writeFileSync(join(dir, 'file'), '');
  const blocked = await examine({ dataDir: join(dir, 'file', 'data') });
  expect(blocked('data-folder')).toEqual(problem('failed', 'nothing can be written', 'data_dir'));
  const dataDir = join(dir, 'data');
  mkdirSync(dataDir);
  const find = await examine({ dataDir });
  expect(find('data-folder').state).not.toBe('failed');
  expect(readdirSync(dataDir)).toEqual([]);
});

it('loads the native build, and says when it cannot', async () => {
  const find = await examine();
  expect(find('native-build')).toEqual({ state: 'ok', found: expect.stringContaining('@20.') });
  expect(find('node-version')).toEqual({ state: 'ok', found: process.versions.node });
});

it('judges versions, space, files, connections, CPUs and memory by their bounds', () => {
  expect(judgeNodeVersion('20.19.0').state).toBe('ok');
  expect(judgeNodeVersion('24.0.0').state).toBe('ok');
  expect(judgeNodeVersion('22.12.0').state).toBe('ok');
  expect(judgeNodeVersion('22.11.0')).toEqual(problem('failed', '22.11.0', '22.12'));
  expect(judgeNodeVersion('18.20.0')).toEqual(problem('failed', '18.20.0', '20.19'));
  expect(judgeNodeVersion('20.18.9')).toEqual(problem('failed', '20.18.9', '20.19'));
  expect(judgeNodeVersion('23.0.0')).toEqual(problem('warning', '23.0.0', '24, 25'));
  expect(judgeFreeSpace('/d', 1024 * MEBIBYTE).state).toBe('ok');
  expect(judgeFreeSpace('/d', 1023 * MEBIBYTE).state).toBe('warning');
  expect(judgeFreeSpace('/d', 99 * MEBIBYTE).state).toBe('failed');
  const files = (limit: number) => judgeOpenFiles({ limit, whose: '', socketsMax: 1_000 }).state;
  expect([files(1_256), files(1_255), files(255)]).toEqual(['ok', 'warning', 'failed']);
  expect([judgeAcceptQueue(512).state, judgeAcceptQueue(128).state]).toEqual(['ok', 'warning']);
  expect([judgeWorkerCount(2, 2).state, judgeWorkerCount(3, 2).state]).toEqual(['ok', 'warning']);
  const memory = (workers: number) =>
    judgeWorkerMemory({
      memoryBytes: 1_024 * MEBIBYTE,
      workers,
      bodiesBytesMax: 384 * MEBIBYTE,
    }).state;
  expect([memory(2), memory(3)]).toEqual(['ok', 'warning']);
});
