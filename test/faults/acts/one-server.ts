import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../../support/wait-until.ts';
import type { Scene } from '../run-row.ts';
import type { FaultServer } from '../support/redis-server.ts';
import { fillDiskWith } from '../support/small-disk.ts';

/** What happens to a single server with an append-only file. */

const AWAY_MS = 1_000;
const FREEZES_MS = [1_000, 5_000, 15_000];
const FULL_MS = 6_000;
const PAUSE_MS = 1_500;
const FILLED_MB = 200;
const KEYS_OF_A_MB = 1_000;
const READY_MAX_MS = 90_000;

export function serverOf({ site }: Scene): FaultServer {
  const [server] = site.layout.servers;
  if (server === undefined) throw new Error('there is no server');
  return server;
}

export async function killAndRestart(scene: Scene): Promise<void> {
  const server = serverOf(scene);
  await server.kill();
  await sleep(AWAY_MS);
  await server.start();
  await scene.waitForService();
}

export async function freeze(scene: Scene): Promise<void> {
  const server = serverOf(scene);
  for (const frozenMs of FREEZES_MS) {
    server.signal('SIGSTOP');
    await sleep(frozenMs);
    server.signal('SIGCONT');
    await scene.waitForService();
  }
}

/** Nobody is admitted while it loads, and afterwards it has what its file has. */
export async function restartWithMuch(scene: Scene): Promise<void> {
  const server = serverOf(scene);
  const fill = "for i = 1, 1000 do redis.call('SET', 'fill:' .. ARGV[1] .. ':' .. i, ARGV[2]) end";
  const value = 'x'.repeat(1_048_576 / KEYS_OF_A_MB);
  for (let mb = 0; mb < FILLED_MB; mb += 1) await server.cli('EVAL', fill, '0', `${mb}`, value);
  await server.kill();
  const startedMs = performance.now();
  await server.start();
  const hasLoaded = async () => (await server.cli('INFO', 'persistence')).includes('\nloading:0');
  await waitUntil(hasLoaded, 'all is loaded', READY_MAX_MS);
  const loadedMs = performance.now();
  await scene.waitForService();
  scene.note(`${FILLED_MB} MB loaded in ${Math.round(loadedMs - startedMs)} ms`);
  scene.note(`all accounts served ${Math.round(performance.now() - loadedMs)} ms later`);
}

/** Replies that are lost, late and slow, as on a bad network. */
export async function spoilReplies(scene: Scene): Promise<void> {
  const { proxy } = scene.site.layout;
  if (proxy === undefined) throw new Error('there is no proxy');
  for (let time = 0; time < 5; time += 1) {
    proxy.cutReplies();
    await sleep(PAUSE_MS);
  }
  await scene.waitForService();
  proxy.delay(300);
  await sleep(FULL_MS);
  proxy.delay(0);
  proxy.throttle(20_000);
  await sleep(FULL_MS);
  proxy.throttle(0);
  await scene.waitForService();
}

/** Admissions are refused, settlements go on. */
export async function fillMemory(scene: Scene): Promise<void> {
  const server = serverOf(scene);
  const info = await server.cli('INFO', 'memory');
  const used = /used_memory:(\d+)/.exec(info)?.[1] ?? '';
  await server.cli('CONFIG', 'SET', 'maxmemory', used);
  await sleep(FULL_MS);
  await server.cli('CONFIG', 'SET', 'maxmemory', '2gb');
  await scene.waitForService();
}

/** With `everysec` a server refuses writes then, and with `always` it ends. */
export async function fillDisk(scene: Scene): Promise<void> {
  const server = serverOf(scene);
  for (const appendfsync of ['everysec', 'always']) {
    await server.cli('CONFIG', 'SET', 'appendfsync', appendfsync);
    const filler = join(server.dir, 'filler');
    fillDiskWith(filler);
    const isFull = async () => {
      const info = await server.cli('INFO', 'persistence').catch(() => undefined);
      return info === undefined || info.includes('aof_last_write_status:err');
    };
    await waitUntil(isFull, 'the disk is full', READY_MAX_MS);
    await sleep(FULL_MS);
    rmSync(filler);
    if (!(await server.cli('PING').catch(() => ''))) {
      scene.note(`with appendfsync ${appendfsync} the server ended`);
      await server.kill();
      await server.start();
    }
    await scene.waitForService();
  }
}

/** What a Redis forgets by itself, or an operator makes it forget, is invisible to clients. */
export async function forgetConnections(scene: Scene): Promise<void> {
  const server = serverOf(scene);
  await server.cli('SCRIPT', 'FLUSH');
  await sleep(PAUSE_MS);
  await server.cli('CLIENT', 'KILL', 'TYPE', 'normal');
  await sleep(PAUSE_MS);
  await server.cli('CONFIG', 'SET', 'timeout', '1');
  await sleep(FULL_MS);
  await server.cli('CONFIG', 'SET', 'timeout', '0');
  await scene.waitForService();
}

export async function restartForMany(scene: Scene): Promise<void> {
  const server = serverOf(scene);
  await server.kill();
  await server.start();
  const startedMs = performance.now();
  await scene.waitForService();
  await waitUntil(
    async () => (await Promise.all(scene.site.nodes.map((node) => node.isReady()))).every(Boolean),
    'all nodes are ready',
    READY_MAX_MS,
  );
  scene.note(`all served and ready after ${Math.round(performance.now() - startedMs)} ms`);
}
