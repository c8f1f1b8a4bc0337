/** A worker that lived this long has started well, and the count of short lives restarts. */
export const STABLE_AFTER_MS = 10_000;
/** If this many workers of one slot in a row live only briefly, further restarts do not help. */
export const SHORT_LIVES_MAX = 6;

const FIRST_DELAY_MS = 100;
const DELAY_MAX_MS = 5_000;

type RestartDecision =
  | { readonly kind: 'restart'; readonly delayMs: number; readonly shortLives: number }
  | { readonly kind: 'give-up' };

/**
 * Decides what follows the death of a worker that lived `livedMs`, after `shortLives` short lives
 * before it.
 */
export function decideRestart(livedMs: number, shortLives: number): RestartDecision {
  if (livedMs >= STABLE_AFTER_MS) return { kind: 'restart', delayMs: 0, shortLives: 0 };
  const lives = shortLives + 1;
  if (lives >= SHORT_LIVES_MAX) return { kind: 'give-up' };
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (lives - 1), DELAY_MAX_MS);
  return { kind: 'restart', delayMs, shortLives: lives };
}
