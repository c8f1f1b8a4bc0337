/** Older client libraries ignore a wait of a minute or more. */
const RETRY_AFTER_MAX_MS = 59_999;
const RETRY_AFTER_MAX_S = 59;

/** For clients that would ask again on their own, when that is in vain. */
export const DO_NOT_RETRY = { 'x-should-retry': 'false' } as const;

/** Both headers have the wait, as far as clients heed it: one of them in whole seconds. */
export function retryAfterHeaders(waitMs: number): Record<string, string> {
  const seconds = Math.min(Math.max(Math.ceil(waitMs / 1_000), 1), RETRY_AFTER_MAX_S);
  const ms = Math.min(Math.max(waitMs, 1), RETRY_AFTER_MAX_MS);
  return { 'retry-after': String(seconds), 'retry-after-ms': String(ms) };
}
