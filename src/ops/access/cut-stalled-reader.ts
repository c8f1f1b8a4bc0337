import type { ServerResponse } from 'node:http';

/** A client that reads nothing for this long is cut off. */
export const STALL_MAX_MS = 60_000;

/** To be called when all of an answer has been written, since what nobody reads stays in memory. */
export function cutStalledReader(response: ServerResponse, stallMaxMs = STALL_MAX_MS): void {
  // Node's own timeout restarts whenever some of it is read, and ends with the answer.
  if (response.writableEnded) response.setTimeout(stallMaxMs);
}
