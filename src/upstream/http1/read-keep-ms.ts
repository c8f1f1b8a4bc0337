import type { HttpAnswerHead } from './frame-body.ts';

/**
 * Servers close idle connections after 5 s or more. Closing first keeps a request from meeting a
 * closing connection.
 */
const KEEP_MS = 4_000;
/** How much earlier to close than the server has announced. */
const MARGIN_MS = 1_000;
const KEEP_MAX_MS = 60_000;

const CLOSE = /(?:^|,)\s*close\s*(?:,|$)/i;
const TIMEOUT = /(?:^|[\s,])timeout=(\d{1,9})(?![\d.])/i;

/**
 * How long a connection may wait for its next request, by the answer's head. 0 means not at all.
 */
export function readKeepMs({ minorVersion, headers }: HttpAnswerHead): number {
  if (minorVersion === 0 || hasClose(headers)) return 0;
  const keepAlive = headers.get('keep-alive');
  if (keepAlive === undefined) return KEEP_MS;
  const timeout = TIMEOUT.exec(keepAlive)?.[1];
  if (timeout === undefined) return KEEP_MS;
  return Math.min(Math.max(Number(timeout) * 1_000 - MARGIN_MS, 0), KEEP_MAX_MS);
}

function hasClose(headers: HttpAnswerHead['headers']): boolean {
  const first = headers.get('connection');
  if (first === undefined) return false;
  if (!headers.hasSeveral('connection')) return first !== 'keep-alive' && CLOSE.test(first);
  return headers.getAll('connection').some((connection) => CLOSE.test(connection));
}
