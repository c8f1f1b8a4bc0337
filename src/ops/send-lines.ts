import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { STALL_MAX_MS } from './access/cut-stalled-reader.ts';

/** What is sent, and under which name a browser keeps it. */
interface SentText {
  readonly contentType:
    | 'application/json'
    | 'application/x-ndjson'
    | 'text/csv; charset=utf-8'
    | 'text/html; charset=utf-8';
  readonly fileName?: string;
}

/**
 * Sends an answer of any length as fast as the client reads. A text may be empty. A failure before
 * the first text is still sent as a plain refusal.
 */
export async function sendLines(
  response: ServerResponse,
  lines: AsyncIterable<string>,
  { contentType, fileName }: SentText = { contentType: 'application/x-ndjson' },
): Promise<void> {
  const iterator = lines[Symbol.asyncIterator]();
  let next = await iterator.next();
  const closing = new AbortController();
  response.once('close', () => closing.abort());
  response.writeHead(200, {
    'content-type': contentType,
    'cache-control': 'no-store',
    ...(fileName !== undefined && {
      'content-disposition': `attachment; filename="${fileName}"`,
    }),
  });
  try {
    for (; next.done !== true && !response.destroyed; next = await iterator.next()) {
      if (next.value === '' || response.write(next.value)) continue;
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(STALL_MAX_MS)]);
      // A reader that has left or stalled is cut off, and this is no error.
      await once(response, 'drain', { signal }).catch(() => response.destroy());
    }
    response.end();
  } catch (error) {
    // The answer breaks off without its end, so the client sees that it is not complete.
    response.destroy();
    if (!closing.signal.aborted) throw error;
  } finally {
    await iterator.return?.();
  }
}
