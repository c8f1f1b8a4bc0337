import { z } from 'zod';
import { creditsOf, MICROS_MAX, parseCredits } from '../../lib/units/micros.ts';

const TEXT_CHARS_MAX = 200;
const PAGE_MAX = 1_000;

const textError = `must be text of 1 to ${TEXT_CHARS_MAX} characters, without control characters`;
/** What something must be equal to. No database takes a zero byte in a text. */
export const filterText = z
  .string()
  .regex(new RegExp(`^[^\\u0000-\\u001f\\u007f-\\u009f]{1,${TEXT_CHARS_MAX}}$`), {
    error: textError,
  });

const timeError = 'must be a time such as 2027-01-31T00:00:00Z, or a day';
/** A day without a time means its beginning in UTC. */
export const filterTime = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], { error: timeError })
  .transform((value) => Date.parse(value));

export const wholeText = (max: number, unit = '') => {
  const error = `must be a whole number${unit} from 0 to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, { error, abort: true })
    .transform(Number)
    .refine((value) => value <= max, { error });
};

const creditsError = 'must be credits of 0 or more, with at most 6 decimals';
const tooManyError = `must be at most ${creditsOf(MICROS_MAX)} credits`;
/** In micros. */
export const creditsText = z
  .string()
  .regex(/^\d{1,10}(\.\d{1,6})?$/, { error: creditsError, abort: true })
  .refine((value) => parseCredits(Number(value)) !== undefined, { error: tooManyError })
  .transform((value) => parseCredits(Number(value)) ?? 0);

const limitError = `must be a whole number from 1 to ${PAGE_MAX}`;
const limitText = z.string().regex(/^\d{1,15}$/, { error: limitError, abort: true });
const limitOf = (text: z.ZodType<string>) =>
  text.transform(Number).refine((value) => value >= 1 && value <= PAGE_MAX, { error: limitError });

export const rowLimit = limitOf(limitText);
/** The default of a text that is read as something else has to be named for the document. */
export const pageLimit = (byDefault: number) =>
  limitOf(limitText.meta({ default: String(byDefault) })).default(byDefault);

export const choiceOf = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z.enum(names, { error: `must be one of ${names.join(', ')}` });

interface Ends {
  readonly [name: string]: unknown;
}

/** Refuses a span that ends before it begins. */
export function refuseReversed(first: string, last: string) {
  return (query: Ends, context: z.RefinementCtx<Ends>): void => {
    const [low, high] = [query[first], query[last]];
    if (typeof low !== 'number' || typeof high !== 'number' || low <= high) return;
    context.addIssue({ code: 'custom', path: [last], message: `must not be less than ${first}` });
  };
}
