import type { ServerResponse } from 'node:http';
import type { AdminStream } from '../routes/admin-route.ts';
import type { CallerMemory } from './caller-memory.ts';

/** The end of a session, and a revocation that was missed, are noticed within this time. */
const ASK_AGAIN_MS = 5_000;

interface Stream extends AdminStream {
  /** Whether it is complete at some time, unlike events. */
  readonly hasEnd: boolean;
}

/**
 * Breaks off an answer that takes a long time, such as events, when its caller is revoked, when
 * the session has ended, or when nobody can know that because Redis is out.
 */
export function createEndWithCaller(callers: Pick<CallerMemory, 'onForget'>) {
  return ({ stream, hasEnd }: Stream, isStillIn: () => Promise<unknown>): AdminStream => ({
    async stream(response: ServerResponse) {
      // It will emit no 'close'.
      if (response.destroyed) return;
      const over = new AbortController();
      const breakOff = () => {
        // If the answer has an end, it says that everything was sent.
        if (hasEnd || response.writableEnded) response.destroy();
        else response.end();
      };
      const check = () => void isStillIn().catch(breakOff);
      const timer = setInterval(check, ASK_AGAIN_MS);
      response.once('close', () => over.abort());
      over.signal.addEventListener('abort', () => clearInterval(timer));
      callers.onForget(check, over.signal);
      try {
        await stream(response);
      } catch (error) {
        over.abort();
        throw error;
      }
    },
  });
}
