import { expect, it } from 'vitest';
import { runProgram } from '../cli/use-cli.ts';
import { askModel, messageOf } from '../support/clients/ask-model.ts';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';

/** The level `info` in the log. */
const LEVEL_INFO = 30;

const gateway = useGateway({ config: FAST_CONFIG });

interface Shown {
  readonly name: string;
  readonly state: string;
  readonly found: string;
}

async function examineNode() {
  const { port, opsUrl, dataDir, configPath } = gateway();
  const env = {
    TOLLGATE_LISTEN: `127.0.0.1:${port}`,
    TOLLGATE_OPS_LISTEN: opsUrl.replace('http://', ''),
    TOLLGATE_DATA_DIR: dataDir,
  };
  const { code, out } = await runProgram(env, 'doctor', '--json', '--config', configPath);
  const { checks } = JSON.parse(out) as { checks: readonly Shown[] };
  return { code, checks };
}

it('examines a running node, its ports and its own Redis, and disturbs none of them', async () => {
  const { url, key } = gateway();
  const linesBefore = gateway().logLines().length;
  const { code, checks } = await examineNode();
  const found = (name: string) => checks.find((check) => check.name === name);
  expect(checks.filter(({ state }) => state === 'failed')).toEqual([]);
  expect(code).toBe(0);
  expect(found('running-node')?.found).toContain(`process ${gateway().pid}`);
  expect(found('listen-port')?.found).toContain('held by a running node');
  expect(found('ops-port')?.found).toContain('held by a running node');
  expect(found('open-files')?.found).toContain(`of the running node (${gateway().pid})`);
  expect(found('redis-persistence')?.found).toContain('written before each answer');
  expect(found('redis-writes')?.state).toBe('ok');
  expect((await askModel(url, key(), messageOf('hello'))).status).toBe(200);
  const warnings = gateway().logLines().slice(linesBefore);
  expect(warnings.filter(({ level }) => Number(level) > LEVEL_INFO)).toEqual([]);
});
