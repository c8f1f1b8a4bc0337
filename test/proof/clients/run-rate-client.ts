import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientOptions, createClient } from './client.ts';

const PAUSE_MAX_MS = 60;

/**
 * A client that runs into rate limits: steadily, in bursts, and again at the first millisecond that
 * a refusal names.
 */
export async function runRateClient(
  options: ClientOptions,
  isStopping: () => boolean,
): Promise<void> {
  const { world, random } = options;
  const client = createClient(options);
  while (!isStopping()) {
    const account = random.pick(world);
    const key = random.pick(account.keys);
    const times = random.chance(0.1) ? 2 : 1;
    const reply = await client.admit(account, key, { micros: 2, leastMicros: 2 }, { times });
    if (reply !== undefined && 'held' in reply) await client.settle(reply, 1);
    else if (reply?.kind === 'rate' && random.chance(0.3)) await sleep(reply.waitMs);
    else if (random.chance(0.7)) await sleep(random.int(1, PAUSE_MAX_MS));
  }
}
