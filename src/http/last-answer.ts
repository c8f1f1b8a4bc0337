import type { UwsResponse } from './load-uws.ts';

/**
 * The last answer of a connection is one that uWS never learns the end of. It takes no further request while
 * one has no answer, so nothing can come to run behind this one, whatever its bytes are and whenever they come.
 * uWS has no call for that, but it writes the headers that it is given as they stand.
 */

/** How long the connection stays open for a client that reads nothing more and does not close it. */
const LINGER_MS = 2_000;

/** The end of an answer in chunks: this header is a trailer, and the lines around it end the chunks. */
export function writeLastChunk(res: UwsResponse): void {
  res.writeHeader('\r\n0\r\nx-tollgate-end', '1\r\n');
}

/** The end of a head behind which no byte comes. */
export function writeLastHeader(res: UwsResponse, contentLength: number): void {
  res.writeHeader('content-length', `${contentLength}\r\n`);
}

/** Clients that know their HTTP close at the end of the answer; a timer, to be cleared, is for the others. */
export function closeAfterLinger(res: UwsResponse): NodeJS.Timeout {
  return setTimeout(() => res.close(), LINGER_MS);
}
