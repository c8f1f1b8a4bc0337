import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { UnreadList } from '../gateway/unread-list.ts';
import type { Server } from '../http/start-server.ts';
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

export interface ServerDrain {
  /** Follows a later order as well, if that ends the drain earlier. */
  shorten(order: DrainOrder): void;
  /** Resolves with how many exchanges had to be cut when the time was up. */
  readonly over: Promise<number>;
}

/** Lets every open exchange end. */
export function drainServer(target: DrainTarget, order: DrainOrder): ServerDrain {
  const limits = { deadlineMs: performance.now() + order.timeoutMs, lingerMs: order.lingerMs };
  return {
    shorten({ timeoutMs, lingerMs }) {
      limits.deadlineMs = Math.min(limits.deadlineMs, performance.now() + timeoutMs);
      limits.lingerMs = Math.min(limits.lingerMs, lingerMs);
    },
    over: waitForExchanges(target, limits),
  };
}

async function waitForExchanges(
  { server, unread }: DrainTarget,
  limits: { readonly deadlineMs: number; readonly lingerMs: number },
): Promise<number> {
  server.stopListening();
  await sleep(Math.min(PORT_CLOSED_BEFORE_MS, limits.deadlineMs - performance.now()));
  server.askClientsToLeave();
  const startMs = performance.now();
  for (;;) {
    const nowMs = performance.now();
    // Before `startMs` no client was asked to leave, so quiet time before it does not count.
    const quietMs = Math.min(server.quietForMs(), nowMs - startMs);
    const active = server.activeExchanges + unread.count;
    if (active === 0 && quietMs >= limits.lingerMs) break;
    if (nowMs >= limits.deadlineMs) break;
    await sleep(POLL_MS);
  }
  const cut = server.activeExchanges + unread.count;
  // Closed first, so that no answer is still read once it is cut.
  unread.close();
  server.close();
  // Exchanges that were cut settle before the caller continues.
  await setImmediate();
  return cut;
}
