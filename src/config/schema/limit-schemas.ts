import { z } from 'zod';
import { creditsOf } from '../../lib/units/micros.ts';
import {
  LIMIT_ACTIONS,
  LIMIT_UNITS,
  LIMITS_MAX,
  type Limit,
  TIMED_REQUESTS_MAX,
} from '../../limits/limit.ts';
import { parseLimitAmount } from '../../limits/parse-limit.ts';
import { formatWindow, parseWindow } from '../../limits/parse-window.ts';

const WINDOW_CHARS_MAX = 10;
const unitError = `must be one of ${LIMIT_UNITS.join(', ')}`;
const windowError = 'must be a length from 1s to 31d such as 10s, 1m or 5h, or day, week or month';
const amountError =
  'must be a whole number of 0 or more, or credits of 0 or more with at most 6 decimals';
const timedError = `must be at most ${TIMED_REQUESTS_MAX} requests, in a window that rolls`;
const actionError = `must be one of ${LIMIT_ACTIONS.join(', ')}`;

const limit = z
  .strictObject({
    unit: z.enum(LIMIT_UNITS, { error: unitError }),
    window: z
      .string({ error: windowError })
      .max(WINDOW_CHARS_MAX, { error: windowError })
      .refine((text) => parseWindow(text) !== undefined, { error: windowError }),
    amount: z.number({ error: amountError }).min(0, { error: amountError }),
    action: z.enum(LIMIT_ACTIONS, { error: actionError }).default('block'),
  })
  .refine(({ unit, amount }) => parseLimitAmount(unit, amount) !== undefined, {
    error: amountError,
    path: ['amount'],
  })
  .refine(
    ({ unit, window, amount, action }) =>
      unit !== 'requests' ||
      action === 'warn' ||
      typeof parseWindow(window) !== 'number' ||
      amount <= TIMED_REQUESTS_MAX,
    { error: timedError, path: ['amount'] },
  );

const listError = `must be a list of at most ${LIMITS_MAX} limits`;

/** Limits as people write them. */
export const writtenLimits = z
  .array(limit, { error: listError })
  .max(LIMITS_MAX, { error: listError })
  .refine((list) => new Set(list.map(nameLimit)).size === list.length, {
    error: 'must have each unit and window once',
  });

export type WrittenLimit = z.output<typeof limit>;

/** A list that replaces the one there is. */
export const limitsInput = writtenLimits.transform((list): Limit[] => list.map(readLimit));

/** Only of a limit that the schema has accepted. */
export function readLimit({ unit, window, amount, action }: WrittenLimit): Limit {
  return {
    unit,
    window: parseWindow(window) ?? 0,
    amount: parseLimitAmount(unit, amount) ?? 0,
    action,
  };
}

function nameLimit({ unit, window }: WrittenLimit): string {
  return `${unit} ${formatWindow(parseWindow(window) ?? 0)}`;
}

export const answeredLimit = z.strictObject({
  unit: z.enum(LIMIT_UNITS),
  window: z.string(),
  amount: z.number(),
  action: z.enum(LIMIT_ACTIONS),
});

/** A limit as people write it. */
export function showLimit({ unit, window, amount, action }: Limit): WrittenLimit {
  const shown = unit === 'credits' ? creditsOf(amount) : amount;
  return { unit, window: formatWindow(window), amount: shown, action };
}
