import { InvalidArgumentError } from 'commander';
import type { WrittenLimit } from '../config/schema/limit-schemas.ts';
import { creditsOf } from '../lib/units/micros.ts';
import { parseLimit } from '../limits/parse-limit.ts';
import { formatWindow } from '../limits/parse-window.ts';

/** A limit of a list, as the admin API takes it. Repeated options add up. */
export function parseLimitOption(text: string, before: readonly WrittenLimit[] = []) {
  const limit = parseLimit(text);
  if (limit === undefined) {
    throw new InvalidArgumentError(
      'It must be a limit such as tokens=400000/1m, credits=25/day or requests=50/5h:warn.',
    );
  }
  const { unit, window, amount, action } = limit;
  const written = unit === 'credits' ? creditsOf(amount) : amount;
  return [...before, { unit, window: formatWindow(window), amount: written, action }];
}

/** The same, or `none` for an empty list. */
export function parseListOption(text: string, before: readonly WrittenLimit[] = []) {
  return text === 'none' && before.length === 0 ? [] : parseLimitOption(text, before);
}

/** As `parseLimitOption` reads it. */
export function formatWritten({ unit, window, amount, action }: WrittenLimit): string {
  return `${unit}=${amount}/${window}${action === 'warn' ? ':warn' : ''}`;
}

export function formatWrittenList(limits: readonly WrittenLimit[]): string {
  return limits.length === 0 ? '-' : limits.map(formatWritten).join(', ');
}
