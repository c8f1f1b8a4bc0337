import { openSettleJournal } from '../../src/quota/journal/settle-journal.ts';
import { RedisUnavailable } from '../../src/redis/redis-unavailable.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import { idsOf, makeSettlements, systemClock } from './settle-scene.ts';

/**
 * Appends to the journal of a folder for ever and prints the ids that the journal reports as kept.
 * Redis is down.
 */
const journal = await openSettleJournal({
  dir: process.argv[2] ?? '',
  settle: () => Promise.reject(new RedisUnavailable()),
  findCharged: async () => undefined,
  onSettled: () => {},
  clock: systemClock,
  random: Math.random,
  log: createMemoryLog(),
});

async function appendForEver(): Promise<never> {
  for (;;) {
    const settlements = makeSettlements(7);
    await journal.append(settlements);
    process.stdout.write(`${idsOf(settlements).join('\n')}\n`);
  }
}

await Promise.all([appendForEver(), appendForEver(), appendForEver()]);
