import { InvalidArgumentError } from 'commander';
import { parseCredits } from '../lib/units/micros.ts';
import { parseDuration } from '../lib/units/parse-duration.ts';
import { DAY_MS, SECOND_MS } from '../lib/units/time-units.ts';

const DAYS_MAX = 36_500;
const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;
/**
 * Removes a control. It is a symbol because the parser of command lines takes null for a mistake.
 */
export const NONE = Symbol('none');

export function parseAmount(text: string): number {
  const credits = Number(text);
  if (!/^-?\d+(\.\d+)?$/.test(text) || parseCredits(credits) === undefined) {
    throw new InvalidArgumentError('It must be credits with at most 6 decimals.');
  }
  return credits;
}

export function parsePositiveAmount(text: string): number {
  const credits = parseAmount(text);
  if (credits > 0) return credits;
  throw new InvalidArgumentError('It must be more than 0.');
}

export function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count)) {
    throw new InvalidArgumentError('It must be a whole number.');
  }
  return count;
}

/** Accepts decimals too. */
export function parseDecimal(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+(\.\d+)?$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a number from ${min} to ${max}.`);
  };
}

export function parseCountUpTo(max: number): (text: string) => number {
  return (text) => {
    const count = parseCount(text);
    if (count >= 1 && count <= max) return count;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  };
}

/** The address of a server, without a slash at its end. */
export function parseUrl(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text.replace(/\/+$/, '');
  throw new InvalidArgumentError('It must be a URL such as http://127.0.0.1:8080.');
}

export function parseNames(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('')) throw new InvalidArgumentError('It must be names, separated by commas.');
  return names;
}

/** A day without a time means its beginning in UTC. */
export function parseTime(text: string): string {
  const ms = Date.parse(text);
  if (!TIME.test(text) || Number.isNaN(ms) || !isDay(text.slice(0, 'yyyy-mm-dd'.length))) {
    throw new InvalidArgumentError('It must be a time such as 2027-01-31 or 2027-01-31T12:00:00Z.');
  }
  return new Date(ms).toISOString();
}

/** `Date.parse` takes the 30th of February for the 2nd of March. */
function isDay(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

/** A time, or the span from now until then. */
export function parseExpiry(text: string): string {
  const spanMs = readSpan(text);
  if (spanMs !== undefined) return new Date(Date.now() + spanMs).toISOString();
  try {
    return parseTime(text);
  } catch {
    throw new InvalidArgumentError(
      'It must be how long from now, such as 12h or 30d, or a time such as 2027-01-31 or 2027-01-31T12:00:00Z.',
    );
  }
}

export function parseSeconds(text: string): number {
  const seconds = (readSpan(text) ?? Number.NaN) / SECOND_MS;
  if (Number.isInteger(seconds)) return seconds;
  throw new InvalidArgumentError('It must be whole seconds, such as 0s, 30m, 24h or 7d.');
}

/** Milliseconds of a span. Undefined if the text is not a span, or is implausibly long. */
function readSpan(text: string): number | undefined {
  try {
    const spanMs = parseDuration(text);
    return spanMs <= DAYS_MAX * DAY_MS ? spanMs : undefined;
  } catch {
    return undefined;
  }
}

export function parseYesOrNo(text: string): boolean {
  if (text === 'yes' || text === 'no') return text === 'yes';
  throw new InvalidArgumentError('It must be yes or no.');
}

export function parseText(text: string): string {
  return text;
}

/** Accepts `none` too. */
export function orNone<Value>(
  parse: (text: string) => Value,
): (text: string) => Value | typeof NONE {
  return (text) => (text === 'none' ? NONE : parse(text));
}
