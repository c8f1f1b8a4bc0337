import { InvalidArgumentError } from 'commander';
import { parseCredits } from '../lib/micros.ts';
import { parseDuration } from '../lib/parse-duration.ts';

const MS_PER_SECOND = 1_000;
const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;
/** Removes a control. The parser of command lines takes null for a mistake. */
export const NONE = Symbol('none');

export function parseAmount(text: string): number {
  const credits = Number(text);
  if (!/^-?\d+(\.\d+)?$/.test(text) || parseCredits(credits) === undefined) {
    throw new InvalidArgumentError('It must be credits with at most 6 decimals.');
  }
  return credits;
}

export function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count)) {
    throw new InvalidArgumentError('It must be a whole number.');
  }
  return count;
}

export function parseNames(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('')) throw new InvalidArgumentError('It must be names, separated by commas.');
  return names;
}

/** A day alone is its beginning in UTC. */
export function parseTime(text: string): string {
  const ms = Date.parse(text);
  if (!TIME.test(text) || Number.isNaN(ms)) {
    throw new InvalidArgumentError('It must be a time such as 2027-01-31 or 2027-01-31T12:00:00Z.');
  }
  return new Date(ms).toISOString();
}

export function parseSeconds(text: string): number {
  try {
    const seconds = parseDuration(text) / MS_PER_SECOND;
    if (Number.isInteger(seconds)) return seconds;
  } catch {
    // Told like every other value below.
  }
  throw new InvalidArgumentError('It must be whole seconds, such as 0s, 30m or 24h.');
}

export function parseText(text: string): string {
  return text;
}

/** Takes `none` too. */
export function orNone<Value>(
  parse: (text: string) => Value,
): (text: string) => Value | typeof NONE {
  return (text) => (text === 'none' ? NONE : parse(text));
}
