import type { JsonBody } from './parse-json-body.ts';

/** Most requests have fewer. In others, the numbers are compared with their values. */
const USUAL_SCALAR_BYTES_MAX = 1_024;

/**
 * Counts the bytes of numbers that their values do not show: `1.000` may have any number of
 * zeros, and an integer more digits than a value can hold.
 */
export function countHiddenDigits({
  value,
  scalarBytes,
}: Pick<JsonBody, 'value' | 'scalarBytes'>): number {
  if (scalarBytes <= USUAL_SCALAR_BYTES_MAX) return 0;
  let said = 0;
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === 'string') continue;
    if (typeof next !== 'object' || next === null) said += countLeastBytes(next);
    else for (const item of Object.values(next)) rest.push(item);
  }
  return Math.max(0, scalarBytes - said);
}

/** A number may come as `1e20` and stand for 21 digits, in whose room others could hide. */
function countLeastBytes(scalar: unknown): number {
  const { length } = String(scalar);
  if (typeof scalar !== 'number') return length;
  return Math.min(length, scalar.toExponential().replace('+', '').length);
}
