const DIGITS_MAX = 3;
const DECIMALS_MAX = 2;

/** A round is not precise enough for more than three digits. */
export function showNumber(value: number): string {
  if (value === 0) return '0';
  const decimals = DIGITS_MAX - 1 - Math.floor(Math.log10(Math.abs(value)));
  return value.toFixed(Math.min(Math.max(decimals, 0), DECIMALS_MAX));
}
