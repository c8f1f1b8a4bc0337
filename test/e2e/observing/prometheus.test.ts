import { spawn, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askModel, messageOf } from '../../support/clients/ask-model.ts';
import { scrape } from '../../support/clients/scrape.ts';
import { createTempDir } from '../../support/create-temp-dir.ts';
import { findFreePort } from '../../support/servers/find-free-port.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

const cleanUp = useCleanUp();
const gateway = useGateway({ config: FAST_CONFIG });

const EXAMPLE = 'deploy/prometheus';

function promtool(args: readonly string[], input = ''): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
}

/** The example of this repository, for another node and with intervals as short as its timeout. */
async function startPrometheus(target: string): Promise<string> {
  const dir = createTempDir(cleanUp);
  cpSync(EXAMPLE, dir, { recursive: true });
  const config = readFileSync(join(dir, 'prometheus.yml'), 'utf8')
    .replace('127.0.0.1:9400', target)
    .replace(/^( *(?:scrape|evaluation)_interval): 15s$/gm, '$1: 5s');
  writeFileSync(join(dir, 'prometheus.yml'), config);
  const address = `127.0.0.1:${await findFreePort()}`;
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(dir, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      `--web.listen-address=${address}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let output = '';
  child.stderr.on('data', (data) => {
    output += data;
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  cleanUp(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const isReady = async () => {
    if (child.exitCode !== null) throw new Error(`prometheus ended: ${output}`);
    return fetch(`http://${address}/-/ready`).then(
      (response) => response.ok,
      () => false,
    );
  };
  await waitUntil(isReady, 'prometheus is ready');
  return `http://${address}`;
}

interface QueryAnswer {
  readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
}

describe('a real Prometheus', () => {
  it('finds nothing to say against the page', async () => {
    const { text } = await scrape(gateway());
    expect(promtool(['check', 'metrics'], text)).toEqual({ status: 0, output: '' });
  });

  it('takes the example configuration and its rules', () => {
    expect(promtool(['check', 'rules', `${EXAMPLE}/rules.yml`])).toMatchObject({ status: 0 });
    expect(promtool(['check', 'config', `${EXAMPLE}/prometheus.yml`])).toMatchObject({ status: 0 });
  });

  it('raises alerts when there is a reason, and only then', () => {
    const { status, output } = promtool([
      'test',
      'rules',
      'test/e2e/observing/prometheus-rules.yml',
    ]);
    expect(output).toContain('SUCCESS');
    expect(status).toBe(0);
  });

  it('scrapes a node and answers queries, of a rule too', async () => {
    const { url, opsUrl, key } = gateway();
    for (let i = 0; i < 5; i++) {
      expect((await askModel(url, key(), messageOf('hi'))).status).toBe(200);
    }
    const prometheus = await startPrometheus(new URL(opsUrl).host);
    const query = async (text: string) => {
      const response = await fetch(`${prometheus}/api/v1/query?query=${encodeURIComponent(text)}`);
      const { data } = (await response.json()) as QueryAnswer;
      return data.result.map(({ value }) => value[1]);
    };
    await waitUntil(
      async () => (await query('sum(tollgate_admissions_total{outcome="admitted"})'))[0] === '5',
      'it has scraped the node',
    );
    expect(await query('up{job="tollgate"}')).toEqual(['1']);
    expect(await query('count(tollgate_build_info)')).toEqual(['1']);
    await waitUntil(
      async () => (await query('instance:tollgate_admission_seconds:p99_rate5m')).length === 1,
      'it has evaluated a rule',
    );
    expect(await query('ALERTS{alertname="TollgateNodeDown"}')).toEqual([]);
  });
});
