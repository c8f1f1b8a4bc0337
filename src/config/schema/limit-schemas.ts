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
import { expected, numeric, settingsMap } from './schema-parts.ts';

const WINDOW_CHARS_MAX = 10;
const unitError = `must be one of ${LIMIT_UNITS.join(', ')}`;
const windowError = 'must be a length from 1s to 31d such as 10s, 1m or 5h, or day, week or month';
const amountText = 'a whole number of 0 or more, or credits of 0 or more with at most 6 decimals';
const amountError = `must be ${amountText}`;
const timedError = `must be at most ${TIMED_REQUESTS_MAX} requests, in a window that rolls`;
const actionError = `must be one of ${LIMIT_ACTIONS.join(', ')}`;

const listError = expected(`a list of at most ${LIMITS_MAX} limits`);

const fields = {
  unit: z.enum(LIMIT_UNITS, { error: unitError }),
  window: z
    .string({ error: windowError })
    .max(WINDOW_CHARS_MAX, { error: windowError })
    .refine((text) => parseWindow(text) !== undefined, { error: windowError }),
  action: z.enum(LIMIT_ACTIONS, { error: actionError }).default('block'),
};
const amount = z.number({ error: amountError }).min(0, { error: amountError });

const limit = z.strictObject({ ...fields, amount });
const limitOfSettings = settingsMap({
  ...fields,
  amount: numeric(expected(amountText)).pipe(amount),
});

function listLimits<Item extends z.ZodType<WrittenLimit>>(item: Item) {
  const checked = item
    .refine(({ unit, amount }) => parseLimitAmount(unit, amount) !== undefined, {
      error: amountError,
      path: ['amount'],
    })
    .refine(isCountable, { error: timedError, path: ['amount'] });
  return z
    .array(checked, { error: listError })
    .max(LIMITS_MAX, { error: listError })
    .refine((list) => new Set(list.map(nameLimit)).size === list.length, {
      error: 'must have each unit and window once',
    });
}

function isCountable({ unit, window, amount, action }: WrittenLimit): boolean {
  if (unit !== 'requests' || action === 'warn') return true;
  return typeof parseWindow(window) !== 'number' || amount <= TIMED_REQUESTS_MAX;
}

export type WrittenLimit = z.output<typeof limit>;

/** Limits as people write them. A variable may stand for an amount. */
export const writtenLimits = listLimits(limitOfSettings);

/** A list that replaces the present one. */
export const limitsInput = listLimits(limit).transform((list): Limit[] => list.map(readLimit));

/** Only for a limit that the schema has accepted. */
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
