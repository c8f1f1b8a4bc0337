import type { ServerResponse } from 'node:http';
import type { AdminStream } from '../routes/admin-route.ts';
import type { CallerMemory } from './caller-memory.ts';

/** An end by time, and a revocation that is not heard, are noticed after this time. */
const ASK_AGAIN_MS = 5_000;

interface Stream extends AdminStream {
  /** Whether it is whole at some time, unlike events. */
  readonly hasEnd: boolean;
}

/**
 * An answer that goes on for long, such as events, breaks off when its caller was revoked, when
 * the session has ended, or when nobody can tell since Redis is out.
 */
export function createEndWithCaller(callers: Pick<CallerMemory, 'onForget'>) {
  return ({ stream, hasEnd }: Stream, isStillIn: () => Promise<unknown>): AdminStream => ({
    async stream(response: ServerResponse) {
      // It will emit no 'close'.
      if (response.destroyed) return;
      const over = new AbortController();
      const breakOff = () => {
        // Where there is an end, it says that all has been sent.
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
