import type { UwsResponse } from './load-uws.ts';

/**
 * uWS never learns that the last answer of a connection has ended. While an answer is open, uWS
 * takes no further request, so no bytes that follow can run as a request, whenever they arrive. uWS
 * has no call for this, but it writes headers unchecked.
 */

/**
 * How long the connection stays open for a client that reads nothing more and does not close it.
 */
const LINGER_MS = 2_000;

/** Ends an answer in chunks: the header becomes a trailer, and its line breaks end the chunks. */
export function writeLastChunk(res: UwsResponse): void {
  res.writeHeader('\r\n0\r\nx-tollgate-end', '1\r\n');
}

/** Ends the head of an answer without a body. */
export function writeLastHeader(res: UwsResponse, contentLength: number): void {
  res.writeHeader('content-length', `${contentLength}\r\n`);
}

/**
 * A correct HTTP client closes the connection after the answer. The timer is for all others; clear
 * it when the client closes.
 */
export function closeAfterLinger(res: UwsResponse): NodeJS.Timeout {
  return setTimeout(() => res.close(), LINGER_MS);
}
