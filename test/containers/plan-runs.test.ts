import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { hasContainerEngine } from './has-container-engine.ts';
import { planRuns } from './plan-runs.ts';

describe('npm run test:containers', () => {
  it('has a run for each official image where there is an engine, and names it', () => {
    const runs = planRuns(true);
    expect(runs.map(({ image }) => image)).toEqual(['redis:7', 'redis:8', 'valkey/valkey:8']);
    for (const { image, announcement } of runs) expect(announcement).toContain(image);
  });

  it('says in a line that it uses the server of this machine where there is none', () => {
    expect(planRuns(false)).toEqual([
      {
        image: undefined,
        announcement:
          'There is no container engine: the tests run with the redis-server of this machine.',
      },
    ]);
  });

  it('finds an engine where docker finds one', async () => {
    const { status } = spawnSync('docker', ['version']);
    expect(await hasContainerEngine()).toBe(status === 0);
  });
});
