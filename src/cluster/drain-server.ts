import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '../http/start-server.ts';
import type { Clock } from '../lib/clock.ts';
import type { DrainOrder } from './messages.ts';

const POLL_MS = 20;

/** Lets every open exchange end; answers how many had to be cut at the end of the time. */
export async function drainServer(
  server: Server,
  order: DrainOrder,
  clock: Clock,
): Promise<number> {
  server.startDraining();
  const deadlineMs = clock.nowMs() + order.timeoutMs;
  const startMs = clock.nowMs();
  for (;;) {
    const nowMs = clock.nowMs();
    // The linger counts from the start of the drain: before it, nobody was told to go elsewhere.
    const quietMs = Math.min(server.quietForMs(), nowMs - startMs);
    if (server.activeExchanges === 0 && quietMs >= order.lingerMs) break;
    if (nowMs >= deadlineMs) break;
    await sleep(POLL_MS);
  }
  const cut = server.activeExchanges;
  server.close();
  return cut;
}
