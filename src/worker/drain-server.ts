import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { AnswerDrains } from '../gateway/answer-drains.ts';
import type { Server } from '../http/start-server.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { DrainOrder } from '../messages/worker-messages.ts';

const POLL_MS = 20;
/**
 * Between closing the port and sending clients away. A client that was sent away by one worker connects
 * anew, and its connection would be reset in the queue of another that closes its port just then.
 */
const PORT_CLOSED_BEFORE_MS = 200;

interface DrainTarget {
  readonly server: Server;
  /** Answers whose exchanges have ended, and that are read on. */
  readonly drains: AnswerDrains;
}

/** Lets every open exchange end; answers how many had to be cut at the end of the time. */
export async function drainServer(
  { server, drains }: DrainTarget,
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
    // Before this, nobody was asked to leave, so being quiet meant nothing.
    const quietMs = Math.min(server.quietForMs(), nowMs - startMs);
    const active = server.activeExchanges + drains.count;
    if (active === 0 && quietMs >= order.lingerMs) break;
    if (nowMs >= deadlineMs) break;
    await sleep(POLL_MS);
  }
  const cut = server.activeExchanges + drains.count;
  // First, because nobody begins to drain an answer that is cut.
  drains.close();
  server.close();
  // Whoever was cut settles before the caller goes on.
  await setImmediate();
  return cut;
}
