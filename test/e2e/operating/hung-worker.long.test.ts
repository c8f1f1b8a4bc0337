import { expect, it, onTestFinished } from 'vitest';
import { isAlive } from '../../support/is-alive.ts';
import { startGateway } from '../../support/servers/start-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

const CONNECTIONS = 20;

it('replaces a worker that is stopped for a minute, and answers every new connection', async () => {
  const gateway = await startGateway({ config: 'workers: 2\n' });
  const [victim = 0] = gateway.workerPids();
  process.kill(victim, 'SIGSTOP');
  onTestFinished(() => {
    if (isAlive(victim)) process.kill(victim, 'SIGKILL');
  });
  await waitUntil(() => !isAlive(victim), 'it is killed');
  await waitUntil(() => gateway.workerPids().length === 2, 'it is replaced');
  expect(gateway.workerPids()).not.toContain(victim);
  expect(gateway.stderr()).toMatch(/worker hangs and is killed/);
  const answers = Array.from({ length: CONNECTIONS }, () =>
    fetch(`${gateway.url}/healthz`, { headers: { connection: 'close' } }),
  );
  for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
});
