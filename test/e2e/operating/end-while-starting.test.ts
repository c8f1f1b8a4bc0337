import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { startGateway } from '../../support/servers/start-gateway.ts';
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
