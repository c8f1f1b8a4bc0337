import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** A client that reads nothing for so long is cut off. */
const STALL_MAX_MS = 60_000;

const HEADERS = { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' };

/**
 * An answer of any length, as fast as the client reads: each text is whole lines, with their ends, or empty. What
 * fails before the first one is still a plain refusal.
 */
export async function sendLines(
  response: ServerResponse,
  lines: AsyncIterable<string>,
): Promise<void> {
  const iterator = lines[Symbol.asyncIterator]();
  let next = await iterator.next();
  const closing = new AbortController();
  response.once('close', () => closing.abort());
  response.writeHead(200, HEADERS);
  try {
    for (; next.done !== true && !response.destroyed; next = await iterator.next()) {
      if (next.value === '' || response.write(next.value)) continue;
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(STALL_MAX_MS)]);
      await once(response, 'drain', { signal });
    }
    response.end();
  } catch (error) {
    // Without an end the client sees that the answer is not complete.
    response.destroy();
    if (!closing.signal.aborted) throw error;
  } finally {
    await iterator.return?.();
  }
}
