import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTempDir } from '../../support/create-temp-dir.ts';
import { findFreePort } from '../../support/servers/find-free-port.ts';
import { startGateway } from '../../support/servers/start-gateway.ts';
import { useGateway } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

const CTRL_C = '\u0003';
/** Hides every Redis server of the machine from the script. */
const WITHOUT_REDIS = `for name in redis-server valkey-server; do
  for dir in /usr/bin /usr/local/bin /usr/sbin; do
    if [ -e "$dir/$name" ]; then mount --bind /dev/null "$dir/$name"; fi
  done
done
exec "$@"`;
/** Hides the native builds of the HTTP server from the script. */
const WITHOUT_BUILDS = `for name in uWebSockets.js uws-modern; do
  mount -t tmpfs none "node_modules/$name"
done
`;

async function nodeEnvironment(): Promise<Record<string, string>> {
  return {
    PATH: process.env['PATH'] ?? '',
    TOLLGATE_LISTEN: `127.0.0.1:${await findFreePort()}`,
    TOLLGATE_OPS_LISTEN: `127.0.0.1:${await findFreePort()}`,
    TOLLGATE_DATA_DIR: join(createTempDir(), 'data'),
  };
}

describe('what a start prints', () => {
  const node = useGateway({ config: 'workers: 1\n' });

  it('is where the admin token is, never the token, and the pages that it serves', async () => {
    const gateway = node();
    const path = /^Admin token: {2}(.*)$/m.exec(gateway.stdout())?.[1] ?? '';
    const token = readFileSync(path, 'utf8').trim();
    const authorization = `Bearer ${token}`;
    const asked = await fetch(`${gateway.opsUrl}/admin/v1/accounts`, {
      headers: { authorization },
    });
    expect(asked.status).toBe(200);
    expect(gateway.stdout() + gateway.stderr()).not.toContain(token);
    const pages = [
      ...gateway.stdout().matchAll(/^(?:Page for key owners|Dashboard|Documentation): {2}(.*)$/gm),
    ];
    expect(pages.map(([, url]) => url)).toEqual([
      `${gateway.url}/`,
      `${gateway.opsUrl}/`,
      `${gateway.opsUrl}/docs`,
    ]);
    for (const [, url = ''] of pages) {
      const page = await fetch(url, { headers: { accept: 'text/html' } });
      expect(await page.text(), url).toContain('<html');
    }
    expect(gateway.stdout()).toContain('Set guards.trusted_proxies');
  });

  it('names no token file where the token is configured, and no page that is off', async () => {
    const token = 'c'.repeat(64);
    const gateway = await startGateway({
      config: 'workers: 1\nkey_page: false\nguards: {trusted_proxies: 1}\n',
      env: { TOLLGATE_ADMIN_TOKEN: token },
    });
    expect(gateway.stdout()).toContain('Admin token:  as configured');
    expect(gateway.stdout()).not.toContain(token);
    expect(gateway.stdout()).not.toContain('Page for key owners');
    expect(gateway.stdout()).not.toContain('trusted_proxies');
  });

  it('is JSON in the log, and at a terminal text', async () => {
    const lines = node().stderr().trim().split('\n');
    expect(node().logLines()).toHaveLength(lines.length);

    const command = 'node dist/src/main.js start';
    const terminal = spawn('script', ['--quiet', '--flush', '--command', command, '/dev/null'], {
      env: { ...(await nodeEnvironment()), TOLLGATE_WORKERS: '1', SHELL: '/bin/sh' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = new Promise<void>((resolve) => terminal.once('exit', () => resolve()));
    let shown = '';
    terminal.stdout.on('data', (data) => {
      shown += data;
    });
    onTestFinished(async () => {
      terminal.stdin.end(CTRL_C);
      await ended;
    });
    await waitUntil(
      () => shown.includes('Try it:'),
      () => `it listens: ${shown}`,
    );
    expect(shown).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} INFO {2}primary: worker listens .*workerPid=\d+/m,
    );
    expect(shown).not.toContain('{"level"');
    terminal.stdin.write(CTRL_C);
    await ended;
    expect(shown).toMatch(/INFO {2}primary: drained\s*$/m);
  });
});

describe('a start on a machine without a Redis server', () => {
  const start = async (options: string[], script = WITHOUT_REDIS) => {
    const dir = createTempDir();
    // It shows that it was called, and installs nothing.
    const aptGet = join(dir, 'apt-get');
    const called = join(dir, 'called');
    writeFileSync(aptGet, `#!/bin/sh\necho "$@" >> ${called}\n[ "$1" = --version ]\n`);
    chmodSync(aptGet, 0o755);
    const env = await nodeEnvironment();
    const run = spawnSync(
      'unshare',
      [
        ...['--map-root-user', '--mount', 'sh', '-c', script, 'sh'],
        ...[process.execPath, 'dist/src/main.js', 'start', ...options],
      ],
      { encoding: 'utf8', env: { ...env, PATH: `${dir}:${env['PATH']}` } },
    );
    const calls = existsSync(called) ? readFileSync(called, 'utf8') : '';
    return { ...run, calls };
  };

  it('installs one only after it has said so', async () => {
    const { status, stdout, stderr, calls } = await start(['--install-redis']);
    expect(status).toBe(1);
    expect(calls).toContain('install --yes');
    expect(stdout).toMatch(/^No Redis server was found\. apt-get installs one now.*--no-install/);
    expect(stderr).toContain('sudo apt-get install redis-server');
  });

  it('installs none for a node that could not serve, and says why', async () => {
    const script = WITHOUT_BUILDS + WITHOUT_REDIS;
    const { status, stderr, calls } = await start(['--install-redis'], script);
    expect(status).toBe(1);
    expect(calls).toBe('');
    expect(stderr).toContain('no native build of uWebSockets.js loads');
  });

  it.each([
    ['with --no-install', ['--install-redis', '--no-install']],
    ['of itself', []],
  ])('installs nothing %s, and says how people do it', async (_, options) => {
    const { status, stderr, calls } = await start(options);
    expect(status).toBe(1);
    expect(calls).toBe('');
    expect(stderr).toContain('neither redis-server nor valkey-server was found');
    expect(stderr).toContain('sudo apt-get install redis-server');
  });
});
