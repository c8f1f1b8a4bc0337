import { afterEach, describe, expect, it } from 'vitest';
import { isShared, purposeOf } from '../../../bench/idle/sort-commands.ts';
import { startNodes } from '../../support/servers/start-nodes.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { type SeenCommand, watchCommands } from '../../support/servers/watch-commands.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Each worker of both nodes probes the store about once a second, which is the clock here. */
const WORKERS = 4;
const PROBES = 6;
/** From one probe of a worker to the next, for each of two workers and their primary. */
const OWN_MAX = 30;
/** In the same time: all buckets are looked at 16 at once, and counted and trimmed rarely. */
const SHARED_MAX = 200;
/** One look at all buckets takes longer than from one probe to the next; two nodes would double it. */
const LOOKS_MAX = (1.4 * 256) / 16;

afterEach(stopRedisServers);

const countProbes = (seen: readonly SeenCommand[]) =>
  seen.filter((command) => purposeOf(command) === 'probes of the store').length;

describe('two nodes that have nothing to do', () => {
  it('ask little of Redis, and share the work on buckets', async () => {
    const { redis } = await startNodes();
    // The watch sees what comes from now on, and the first sweeps must have been divided by then.
    const isShareFair = async () => (await redis.cli('zcard', 'gw:{s}:sweepers')) === '2';
    await waitUntil(isShareFair, 'both nodes sweep');
    const watch = await watchCommands(redis.port);
    let seen: readonly SeenCommand[] = [];
    await waitUntil(async () => {
      seen = await watch.read();
      return countProbes(seen) >= WORKERS * PROBES;
    }, 'each worker has probed often enough');
    watch.stop();

    const rounds = countProbes(seen) / WORKERS;
    const shared = seen.filter(isShared);
    const own = seen.filter((command) => !isShared(command));
    const looks = seen.filter((command) => purposeOf(command) === 'looks before sweeps');
    const sweeps = seen.filter((command) => purposeOf(command) === 'sweeps');
    expect(own.length / rounds / 2).toBeLessThan(OWN_MAX);
    expect(shared.length / rounds).toBeLessThan(SHARED_MAX);
    expect(looks.length / rounds).toBeLessThan(LOOKS_MAX);
    expect(looks.length).toBeGreaterThan(0);
    expect(sweeps).toEqual([]);
  });
});
