import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { createTempDir } from '../../support/create-temp-dir.ts';
import { findFreePort } from '../../support/servers/find-free-port.ts';
import { launchGateway, startGateway } from '../../support/servers/start-gateway.ts';
import { startRedisServer, stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { useGateway } from '../../support/use-gateway.ts';

const runTollgate = (...args: string[]) =>
  spawnSync(process.execPath, ['dist/src/main.js', ...args], { encoding: 'utf8' });

afterAll(stopRedisServers);

describe('a node that starts', () => {
  const node = useGateway();

  it('prints a curl line that works when pasted', async () => {
    const gateway = node();
    expect(gateway.stdout()).toContain(
      `Tollgate listens on 127.0.0.1:${gateway.port} with 2 worker(s).`,
    );
    const command = /Try it: {2}(curl .*)/.exec(gateway.stdout())?.[1] ?? '';
    const pasted = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
    expect(JSON.parse(pasted.stdout)).toMatchObject({ status: 'ok' });
  });

  it('prints a command that asks a model, with a key that is let in', async () => {
    const gateway = node();
    const command = /Ask a model: {2}(curl [\s\S]*?\}')\n/.exec(gateway.stdout())?.[1] ?? '';
    const pasted = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
    expect(JSON.parse(pasted.stdout)).toMatchObject({
      type: 'message',
      content: [{ type: 'text', text: expect.stringMatching(/simulated/) }],
    });
    expect(gateway.stdout() + gateway.stderr()).not.toContain(gateway.key());
  });

  it('prints commands that make an account and a key, where its Redis is not its own', async () => {
    const { port } = await startRedisServer();
    const env = { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${port}` };
    const gateway = await startGateway({ config: 'workers: 1\n', env });
    expect(gateway.stdout()).toContain('Redis: as configured.\n');
    const commands = gateway.stdout().matchAll(/^ {2}(?:npx )?tollgate (.*)$/gm);
    const [account = '', key = ''] = [...commands].map(([, line]) => line);
    const run = (line: string) =>
      spawnSync('sh', ['-c', `${process.execPath} dist/src/main.js ${line}`], { encoding: 'utf8' });
    const created = run(account);
    expect([created.status, created.stderr]).toEqual([0, '']);
    const id = /acct_\w+/.exec(created.stdout)?.[0] ?? '';
    expect(run(key.replace('ID', id)).stdout).toContain('sk-gw2-');
  });

  it('says that its Redis does not take it, and why', async () => {
    const { port } = await startRedisServer({ args: ['--requirepass', 'right-word'] });
    const env = { TOLLGATE_REDIS_URL: `redis://:wrong-word@127.0.0.1:${port}` };
    const gateway = await startGateway({ config: 'workers: 1\n', env });
    expect(gateway.stdout()).toMatch(
      new RegExp(
        `^Redis: not usable yet [(]WRONGPASS .*[)]; .*tollgate doctor --config ${gateway.configPath}. says more[.]$`,
        'm',
      ),
    );
  });

  it('tells operators on a listener of its own whether it is ready', async () => {
    const gateway = node();
    for (const [path, status] of [
      ['/livez', 200],
      ['/readyz', 200],
      ['/openapi.json', 200],
      ['/nowhere', 404],
    ] as const) {
      expect((await fetch(`${gateway.opsUrl}${path}`)).status, path).toBe(status);
    }
    expect((await fetch(`${gateway.opsUrl}/livez`, { method: 'POST' })).status).toBe(405);
  });

  it('says its version, worker and uptime on both health paths', async () => {
    const gateway = node();
    for (const path of ['/healthz', '/health']) {
      const response = await fetch(`${gateway.url}${path}`);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(await response.json()).toEqual({
        status: 'ok',
        version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        worker: expect.any(Number),
        uptime_seconds: expect.any(Number),
      });
    }
    expect((await fetch(gateway.url, { method: 'HEAD' })).status).toBe(200);
  });

  it('takes 12 KB of headers', async () => {
    const response = await fetch(`${node().url}/healthz`, {
      headers: { 'x-trace': 'a'.repeat(12_000) },
    });
    expect(response.status).toBe(200);
  });

  it('serves a unix socket when told to', async () => {
    const path = `${createTempDir()}/api.sock`;
    const gateway = await startGateway({
      ...{ config: 'workers: 1\n', env: { TOLLGATE_LISTEN: `unix:${path}` } },
    });
    expect(statSync(path).mode & 0o777).toBe(0o660);
    const command = /Try it: {2}(curl .*)/.exec(gateway.stdout())?.[1] ?? '';
    const pasted = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
    expect(JSON.parse(pasted.stdout)).toMatchObject({ status: 'ok' });
  });

  it('refuses a port that another program has', async () => {
    const other = createServer().listen(await findFreePort(), '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const gateway = await launchGateway({ port });
    expect(await gateway.waitForExit()).toBe(1);
    expect(gateway.stderr()).toContain(
      `tollgate: cannot listen on 127.0.0.1:${port}: listen EADDRINUSE`,
    );
    other.close();
  });

  it('refuses the port of another node, although the kernel would share it', async () => {
    const first = node();
    const second = await launchGateway({ port: first.port });
    expect(await second.waitForExit()).toBe(1);
    expect(second.stderr()).toContain('EADDRINUSE');
    expect((await fetch(`${first.url}/healthz`)).status).toBe(200);
  });

  it('refuses the data folder of another node, and names its process', async () => {
    const first = node();
    const second = await launchGateway({ dataDir: first.dataDir });
    expect(await second.waitForExit()).toBe(1);
    expect(second.stderr()).toContain(
      `the data folder ${first.dataDir} is in use by another Tollgate (process ${first.pid})`,
    );
  });

  it('refuses wrong settings with every problem, and starts nothing', async () => {
    const gateway = await launchGateway({ config: 'workers: 0\nlisten_on: here\n' });
    expect(await gateway.waitForExit()).toBe(1);
    const lines = gateway.stderr().trim().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('tollgate.yaml:1: workers:');
    expect(lines[1]).toContain('tollgate.yaml:2: listen_on:');
  });
});

describe('the command line', () => {
  it('explains itself', () => {
    const help = runTollgate('help');
    expect(help.status).toBe(0);
    expect(help.stdout).toMatch(/start[\s\S]*check/);
    expect(runTollgate('start', '--help').stdout).toContain('--config <file>');
    expect(runTollgate('--version').stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('ends with 2 when it is used wrongly', () => {
    for (const args of [[], ['nonsense'], ['check', '--nonsense'], ['start', '--config']]) {
      const wrong = runTollgate(...args);
      expect(wrong.status, args.join(' ')).toBe(2);
      expect(wrong.stderr, args.join(' ')).not.toBe('');
    }
  });

  it('ends with 1 when settings cannot be used', () => {
    const check = runTollgate('check', '--config', '/nonexistent/tollgate.yaml');
    expect(check.status).toBe(1);
    expect(check.stderr).toBe(
      '/nonexistent/tollgate.yaml: cannot be read: there is no such file\n',
    );
  });
});
