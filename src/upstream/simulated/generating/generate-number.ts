import { pickInteger, type Random } from '../random.ts';
import type { SchemaFields } from './merge-schemas.ts';

const USUAL_SPAN = 99;

/** A number within the bounds of a schema, a whole one if there is one. */
export function generateNumber(flat: SchemaFields, isInteger: boolean, random: Random): number {
  const multiple = numberOf(flat['multipleOf']);
  if (multiple !== undefined && multiple > 0)
    return generateMultiple(flat, multiple, isInteger, random);
  const { min, max } = wholeBounds(flat, 1);
  if (isInteger || min <= max) return pickWhole(min, max, random);
  return pickBetween(flat);
}

function generateMultiple(
  flat: SchemaFields,
  multiple: number,
  isInteger: boolean,
  random: Random,
): number {
  // 2.5 has a whole multiple too: 5.
  const step =
    isInteger && !Number.isInteger(multiple) ? multiple * wholeFactor(multiple) : multiple;
  const { min, max } = wholeBounds(flat, step);
  return pickWhole(min, max, random) * step;
}

function wholeFactor(multiple: number): number {
  for (let factor = 1; factor <= 1_000; factor++) {
    if (Number.isInteger(multiple * factor)) return factor;
  }
  return 1;
}

/** The least and the greatest whole number of steps within the bounds. The range may be empty. */
function wholeBounds(flat: SchemaFields, step: number) {
  const { low, lowOpen, high, highOpen } = boundsOf(flat);
  const lowest = low === undefined ? undefined : Math.ceil(low / step);
  const highest = high === undefined ? undefined : Math.floor(high / step);
  const min = lowest !== undefined && lowOpen && lowest * step === low ? lowest + 1 : lowest;
  const max = highest !== undefined && highOpen && highest * step === high ? highest - 1 : highest;
  return {
    min: min ?? (max === undefined ? 1 : Math.min(1, max)),
    max: max ?? Math.max(min ?? 1, 1) + USUAL_SPAN,
  };
}

/** Some schemas name the bounds that any number has. Then a small positive number is meant. */
function pickWhole(min: number, max: number, random: Random): number {
  if (!(min < max)) return min;
  const low = max < 1 ? Math.max(min, max - USUAL_SPAN) : Math.max(min, 1);
  return pickInteger(low, Math.min(max, low + USUAL_SPAN), random);
}

/** No whole number fits: takes the middle, unless only an end of the range is left. */
function pickBetween(flat: SchemaFields): number {
  const { low = 0, lowOpen, high = low, highOpen } = boundsOf(flat);
  const middle = low + (high - low) / 2;
  if (middle > low && middle < high) return middle;
  return lowOpen && !highOpen ? high : low;
}

function boundsOf(flat: SchemaFields) {
  const minimum = numberOf(flat['minimum']);
  const maximum = numberOf(flat['maximum']);
  const above = numberOf(flat['exclusiveMinimum']);
  const below = numberOf(flat['exclusiveMaximum']);
  const lowOpen = above !== undefined && (minimum === undefined || above >= minimum);
  const highOpen = below !== undefined && (maximum === undefined || below <= maximum);
  return { low: lowOpen ? above : minimum, lowOpen, high: highOpen ? below : maximum, highOpen };
}

/** Old drafts of JSON Schema have booleans where new ones have numbers. */
function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
