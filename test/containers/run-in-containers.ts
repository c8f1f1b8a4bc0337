import { spawnSync } from 'node:child_process';
import { hasContainerEngine } from './has-container-engine.ts';
import { planRuns } from './plan-runs.ts';

/** `npm run test:containers`: the tests in these folders depend on the behaviour of Redis. */
const FOLDERS = ['quota', 'redis', 'proof', 'books', 'accounts'].map((name) => `test/${name}/`);

for (const { image, announcement } of planRuns(await hasContainerEngine())) {
  console.log(announcement);
  const { TEST_REDIS_IMAGE: _, ...env } = process.env;
  const { status } = spawnSync(
    'npx',
    ['vitest', 'run', '--config', 'test/vitest.config.ts', ...FOLDERS],
    { stdio: 'inherit', env: { ...env, ...(image && { TEST_REDIS_IMAGE: image }) } },
  );
  if (status !== 0) process.exitCode = 1;
}
