import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createTempDir } from '../../support/create-temp-dir.ts';
import { isAlive } from '../../support/is-alive.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { startLoad } from '../../support/servers/start-load.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { useGateway } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

describe('one of two workers that dies', () => {
  const cleanUp = useCleanUp();
  let nodePath: string;
  let gateway: Gateway;
  beforeAll(async () => {
    nodePath = join(createTempDir(cleanUp), 'node');
    copyFileSync(process.execPath, nodePath);
    gateway = await startGateway({ config: 'workers: 2\n', nodePath, cleanUp });
  });

  it('costs its own open requests only, under load, and is replaced', async () => {
    const load = startLoad(gateway.url, '/probe/slow?5', 24);
    await waitUntil(() => new Set(load.lastPids()).size === 2, 'both workers have clients');
    await waitUntil(() => load.answered() > 500, 'the load is on its way');
    const victim = gateway.workerPids()[0] ?? 0;
    const clientsOfVictim = load.lastPids().filter((pid) => pid === victim).length;

    process.kill(victim, 'SIGKILL');
    await waitUntil(() => !gateway.workerPids().includes(victim), 'its death is seen');
    await waitUntil(() => gateway.workerPids().length === 2, 'it is replaced');
    const answeredThen = load.answered();
    await waitUntil(() => load.answered() > answeredThen + 500, 'the load goes on');
    await load.stop();

    expect(clientsOfVictim).toBeGreaterThan(0);
    expect(load.failures.length).toBeLessThanOrEqual(clientsOfVictim);
    expect(load.failures.filter((failure) => failure.lastPid !== victim)).toEqual([]);
    expect(gateway.stderr()).toMatch(/worker died/);
  });

  it('is replaced once the system can start processes again', async () => {
    const [victim = 0] = gateway.workerPids();
    renameSync(nodePath, `${nodePath}-away`);
    process.kill(victim, 'SIGKILL');
    await gateway.waitForLog(/worker did not start/);
    renameSync(`${nodePath}-away`, nodePath);
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
    await waitUntil(() => gateway.workerPids().length === 2, 'it is replaced');
  });
});

describe('the only worker', () => {
  const node = useGateway({ config: 'workers: 1\n' });

  it('that dies of an exception outside of any request says why in the log', async () => {
    const gateway = node();
    const [victim = 0] = gateway.workerPids();
    await fetch(`${gateway.url}/probe/throw-later`);
    await gateway.waitForLog(/thrown outside of any request/);
    await waitUntil(() => !gateway.workerPids().includes(victim), 'its death is seen');
    await waitUntil(() => gateway.workerPids().length === 1, 'it is replaced');
    await waitUntil(
      () =>
        fetch(`${gateway.url}/healthz`).then(
          (response) => response.ok,
          () => false,
        ),
      'the replacement answers',
    );
  });

  it('does not die of a rejection that nobody waits for', async () => {
    const gateway = node();
    const [pid] = gateway.workerPids();
    await fetch(`${gateway.url}/probe/reject-later`);
    await gateway.waitForLog(/rejected outside of any request/);
    expect(await (await fetch(`${gateway.url}/probe/pid`)).json()).toEqual({ pid });
  });

  it('that dies again and again shortly after its start ends the node with a clear error', async () => {
    const gateway = node();
    const exit = gateway.waitForExit();
    let hasExited = false;
    void exit.then(() => {
      hasExited = true;
    });
    await waitUntil(async () => {
      await fetch(`${gateway.url}/probe/crash`).catch(() => {});
      return hasExited;
    }, 'it gives up');
    expect(await exit).toBe(1);
    expect(gateway.stderr()).toMatch(
      /tollgate: worker 1 died 6 times in a row shortly after its start/,
    );
  });
});

describe('a primary that is killed', () => {
  it('leaves its workers to finish their streams, take nobody new, and end', async () => {
    const gateway = await startGateway({ config: 'workers: 2\n' });
    const pids = gateway.workerPids();
    const streams = await Promise.all(
      Array.from({ length: 10 }, () => fetch(`${gateway.url}/probe/stream?15`)),
    );
    gateway.signal('SIGKILL');
    await gateway.waitForExit();
    const texts = await Promise.all(streams.map((stream) => stream.text()));
    for (const text of texts) expect(text).toMatch(/^data: 1 [\s\S]*data: 15 \d+\n\n$/);
    await waitUntil(() => pids.every((pid) => !isAlive(pid)), 'the workers have ended');
    await expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow();

    const again = await startGateway({ port: gateway.port, dataDir: gateway.dataDir });
    expect((await fetch(`${again.url}/health`)).status).toBe(200);
  });
});
