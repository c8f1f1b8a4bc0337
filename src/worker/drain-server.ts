import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { UnreadList } from '../gateway/unread-list.ts';
import type { Server } from '../http/start-server.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { DrainOrder } from '../messages/worker-messages.ts';

const POLL_MS = 20;
/**
 * The time between closing the port and asking clients to leave. A client that leaves one worker
 * reconnects at once. If it landed in the accept queue of a worker that was just closing its port,
 * its connection would be reset.
 */
const PORT_CLOSED_BEFORE_MS = 200;

interface DrainTarget {
  readonly server: Server;
  /** Answers that are still read although their exchanges have ended. */
  readonly unread: UnreadList;
}

/** Lets every open exchange end. Returns how many had to be cut when the time was up. */
export async function drainServer(
  { server, unread }: DrainTarget,
  order: DrainOrder,
  clock: Clock,
): Promise<number> {
  server.stopListening();
  const deadlineMs = clock.nowMs() + order.timeoutMs;
  await sleep(Math.min(PORT_CLOSED_BEFORE_MS, order.timeoutMs));
  server.askClientsToLeave();
  const startMs = clock.nowMs();
  for (;;) {
    const nowMs = clock.nowMs();
    // Before `startMs` no client was asked to leave, so quiet time before it does not count.
    const quietMs = Math.min(server.quietForMs(), nowMs - startMs);
    const active = server.activeExchanges + unread.count;
    if (active === 0 && quietMs >= order.lingerMs) break;
    if (nowMs >= deadlineMs) break;
    await sleep(POLL_MS);
  }
  const cut = server.activeExchanges + unread.count;
  // Closed first, so that no cut answer is read on.
  unread.close();
  server.close();
  // Exchanges that were cut settle before the caller goes on.
  await setImmediate();
  return cut;
}
