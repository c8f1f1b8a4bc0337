import { expect, it } from 'vitest';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { createNodeMetrics } from '../../../src/primary/node-metrics.ts';
import { createMemoryLog } from '../../support/memory-log.ts';

async function hashOf(text: string): Promise<string> {
  const config = parseConfig({ path: undefined, text, env: {} });
  const log = createMemoryLog();
  const { collector } = createNodeMetrics({ configInUse: () => config, log });
  const lines = (await collector.collect()).text.split('\n');
  return lines.find((line) => line.startsWith('tollgate_config_hash ')) ?? '';
}

it('nodes that differ in what belongs to their machine show the same hash of their settings', async () => {
  const hash = await hashOf('key_page: false\n');
  expect(hash).toMatch(/^tollgate_config_hash \d+$/);
  const machine =
    'listen: 10.0.0.2:8080\nops: {listen: 10.0.0.2:9400}\nworkers: 7\ndata_dir: /srv\n';
  expect(await hashOf(`${machine}key_page: false\n`)).toBe(hash);
  expect(await hashOf(`${machine}key_page: true\n`)).not.toBe(hash);
});
