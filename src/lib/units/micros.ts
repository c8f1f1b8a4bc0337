/** Credits are counted in whole micro-credits, a million of them to a credit. */
export const MICROS_PER_CREDIT = 1_000_000;

/** Some way below 2^53, so that sums of a few amounts are exact too. */
export const MICROS_MAX = 4e15;

/** Reads credits with at most 6 decimals. `undefined` if the number is not such an amount. */
export function parseCredits(credits: number): number | undefined {
  const nearest = Math.round(credits * MICROS_PER_CREDIT);
  // A large product is itself rounded, and can lie next to the exact amount.
  for (const micros of [nearest, nearest - 1, nearest + 1]) {
    if (Math.abs(micros) <= MICROS_MAX && creditsOf(micros) === credits) return micros + 0;
  }
  return undefined;
}

/**
 * The double nearest to the amount, which prints with at most 6 decimals and never with an
 * exponent.
 */
export function creditsOf(micros: number): number {
  return micros / MICROS_PER_CREDIT + 0;
}

export function formatCredits(micros: number): string {
  return String(creditsOf(micros));
}
