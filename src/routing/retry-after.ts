/** Older client libraries ignore a wait of a minute or more, and newer ones sleep for all of it. */
const RETRY_AFTER_MAX_S = 59;

export function encodeRetryAfter(waitMs: number): { readonly 'retry-after': string } {
  const seconds = Math.min(Math.max(Math.ceil(waitMs / 1_000), 1), RETRY_AFTER_MAX_S);
  return { 'retry-after': String(seconds) };
}
