import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { launchGateway, startGateway } from '../../support/servers/start-gateway.ts';
import { FAST_CONFIG } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

const childrenOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

it('a node that is told to end while a worker is being replaced ends at once', async () => {
  const gateway = await startGateway({ config: FAST_CONFIG });
  const before = childrenOf(gateway.pid);
  for (const pid of gateway.workerPids()) process.kill(pid, 'SIGKILL');
  // The replacement exists, and does not listen to orders yet.
  await waitUntil(
    () => childrenOf(gateway.pid).some((pid) => !before.includes(pid)),
    'a replacement is forked',
  );
  gateway.signal('SIGTERM');
  expect(await gateway.waitForExit()).toBe(0);
});

describe('a node that is told to reload', () => {
  it('before it is ready does so when it is', async () => {
    const gateway = await launchGateway({ config: FAST_CONFIG });
    await gateway.waitForLog(/"redisPid"/);
    gateway.signal('SIGHUP');
    await gateway.waitForListening();
    await gateway.waitForLog(/reloaded/);
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  });

  it('while it drains goes on with that, and ends as it was told', async () => {
    const gateway = await startGateway({ config: FAST_CONFIG });
    const stream = await fetch(`${gateway.url}/probe/stream?20`);
    gateway.signal('SIGTERM');
    await gateway.waitForLog(/draining/);
    gateway.signal('SIGHUP');
    expect(await stream.text()).toMatch(/data: 20 \d+\n\n$/);
    expect(await gateway.waitForExit()).toBe(0);
  });
});
