import { spawnSync } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import { createTempDir } from '../support/create-temp-dir.ts';
import { startGateway } from '../support/servers/start-gateway.ts';
import { stopRedisServers } from '../support/servers/start-redis-server.ts';
import { FAST_CONFIG } from '../support/use-gateway.ts';
import { examine, problem } from './examine.ts';

afterAll(stopRedisServers);

describe('the number of trusted proxies', () => {
  it('is doubted beside a node whose clients come through one that is not counted', async () => {
    const gateway = await startGateway({ config: FAST_CONFIG });
    const doctor = () => {
      const { stdout } = spawnSync(
        process.execPath,
        ['dist/src/main.js', 'doctor', '--json', '--config', gateway.configPath],
        {
          encoding: 'utf8',
          env: {
            PATH: process.env['PATH'],
            TOLLGATE_LISTEN: `127.0.0.1:${gateway.port}`,
            TOLLGATE_OPS_LISTEN: gateway.opsUrl.replace('http://', ''),
            TOLLGATE_DATA_DIR: gateway.dataDir,
          },
        },
      );
      const { checks } = JSON.parse(stdout) as { checks: { name: string; state: string }[] };
      return checks.find(({ name }) => name === 'client-addresses');
    };
    expect(doctor()).toMatchObject({ state: 'ok' });
    const headers = { 'x-api-key': gateway.key(), 'x-forwarded-for': '203.0.113.5' };
    expect((await fetch(`${gateway.url}/v1/models`, { headers })).status).toBe(200);
    expect(doctor()).toMatchObject(problem('warning', 'came through more', 'trusted_proxies'));
  });

  it('is doubted where clients come over a socket and none is trusted', async () => {
    const listen = `unix:${createTempDir()}/api.sock`;
    const find = await examine({ listen, settings: 'workers: 1' });
    expect(find('client-addresses')).toMatchObject(
      problem('warning', 'count as one', 'trusted_proxies'),
    );
  });

  it('cannot be judged without a node', async () => {
    const find = await examine();
    expect(find('client-addresses')).toMatchObject({ state: 'skipped' });
  });
});
