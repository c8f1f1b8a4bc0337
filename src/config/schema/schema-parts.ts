import { z } from 'zod';
import { nearestWord } from '../../lib/nearest-word.ts';
import { Secret } from '../../lib/secret.ts';
import { formatDuration, parseDuration } from '../../lib/units/parse-duration.ts';

const DURATION_MAX_MS = 24 * 3_600_000;
const PRICE_MAX = 1_000_000;

/** Makes one message for every mistake in a value. The message never repeats the value. */
export function expected(what: string) {
  return ({ input }: { readonly input?: unknown }) => {
    if (input === undefined) return `is missing: it must be ${what}`;
    return input === null ? `has no value: it must be ${what}` : `must be ${what}`;
  };
}

export function settingsMap<Shape extends z.ZodRawShape>(shape: Shape) {
  const keys = Object.keys(shape);
  const explain = (unknownKey: string) => {
    const nearest = nearestWord(unknownKey, keys);
    const hint =
      nearest === undefined ? `the keys here are ${keys.join(', ')}` : `did you mean ${nearest}?`;
    return `unknown key; ${hint}`;
  };
  return z.strictObject(shape, {
    // Writes one line for each key, since an issue names all unknown keys of a map, but a problem
    // names one.
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map(explain).join('\n')
        : expected('a map of settings')(issue),
  });
}

export function listOf<Item extends z.ZodType>(item: Item, what: string, min: number, max: number) {
  const error = expected(`a list of ${min} to ${max} ${what}`);
  return z.array(item, { error }).min(min, { error }).max(max, { error });
}

/** Text that a pure parser reads. The parser's message becomes the problem. */
export function parsableText<Value>(what: string, parse: (text: string) => Value) {
  return z.string({ error: expected(what) }).transform((text, context) => {
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      context.addIssue({ code: 'custom', message: error.message });
      return z.NEVER;
    }
  });
}

export function namedText(what: string, pattern: RegExp) {
  const error = expected(what);
  return z.string({ error }).regex(pattern, { error });
}

/** Accepts text too, since variables contain text. */
export function trueOrFalse() {
  const asText = z.enum(['true', 'false']).transform((text) => text === 'true');
  return z.union([z.boolean(), asText], { error: expected('true or false') });
}

/** Accepts digits in text too, since variables contain text. */
export const numeric = (error: ReturnType<typeof expected>) =>
  z.union(
    [
      z.number(),
      z
        .string()
        .regex(/^\d{1,15}(\.\d{1,15})?$/)
        .transform(Number),
    ],
    { error },
  );

export function wholeNumber(min: number, max: number) {
  const error = expected(`a whole number from ${min} to ${max}`);
  return numeric(error).pipe(z.int({ error }).min(min, { error }).max(max, { error }));
}

export function numberFrom(min: number, max: number) {
  const error = expected(`a number from ${min} to ${max}`);
  return numeric(error).pipe(z.number({ error }).min(min, { error }).max(max, { error }));
}

export function duration(minMs: number, maxMs = DURATION_MAX_MS) {
  const error = expected(`a duration from ${formatDuration(minMs)} to ${formatDuration(maxMs)}`);
  return parsableText('a duration such as 500ms, 2s, 10m, 24h or 90d', parseDuration).pipe(
    z.number().min(minMs, { error }).max(maxMs, { error }),
  );
}

export const name = namedText(
  'a name of at most 128 letters, digits and . _ : -',
  /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/,
);

// The text must fit into a header. See `expected` for why the message is this plain.
export const secret = secretOf(1);

export function secretOf(charsMin: number) {
  return namedText(
    `text of ${charsMin} to 4096 visible ASCII characters, without spaces`,
    new RegExp(`^[\\x21-\\x7e]{${charsMin},4096}$`),
  ).transform((value) => new Secret(value));
}

export const filePath = namedText('a path of at most 4096 characters', /^\P{Cc}{1,4096}$/u);

const price = numberFrom(0, PRICE_MAX);

const pricesOf = <Output extends z.ZodType>(output: Output) =>
  settingsMap({
    input: price,
    output,
    cache_read: price.optional(),
    cache_write_5m: price.optional(),
    cache_write_1h: price.optional(),
    web_search: price.optional(),
  });

/** Credits for a million tokens, or for a thousand searches. */
export const prices = pricesOf(price);

/** A model that makes embeddings has a price for its input and no other. */
export const modelPrices = pricesOf(price.optional());
