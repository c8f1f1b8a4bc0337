import fc from 'fast-check';
import { Refusal } from '../../../src/protocol/refusals.ts';

/** JSON as writers other than the engine's write it. */

interface Writing {
  readonly space: string;
  readonly isEscaped: boolean;
}

export const writings: fc.Arbitrary<Writing> = fc.record({
  space: fc.constantFrom('', ' ', '\n\t', '\r\n'),
  isEscaped: fc.boolean(),
});

const escapeAll = (text: string) =>
  text.replaceAll(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

export function writeJson(value: unknown, writing: Writing): string {
  const { space, isEscaped } = writing;
  const join = (items: readonly string[]) => items.join(`${space},${space}`);
  if (Array.isArray(value)) {
    return `[${space}${join(value.map((item) => writeJson(item, writing)))}${space}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([name, field]) => `${writeText(name)}${space}:${space}${writeJson(field, writing)}`,
    );
    return `{${space}${join(members)}${space}}`;
  }
  if (typeof value === 'string') return isEscaped ? escapeAll(writeText(value)) : writeText(value);
  return JSON.stringify(value);
}

const writeText = (text: string) => JSON.stringify(text);

/** Texts in bodies that could mislead a reader. */
export const texts = fc.oneof(
  fc.constantFrom(
    'Hi',
    '"model":"evil"',
    '{"model":',
    'a\\',
    'a\\"',
    '\u2028ö🌍',
    '[[{',
    '}]',
    ',',
  ),
  // Longer than the part that is scanned byte by byte.
  fc.constantFrom('"', '\\', '\\"', '"}').map((end) => `${'.'.repeat(60)}${end},"model":"evil"`),
  fc.string({ minLength: 1, maxLength: 100 }).map((text) => `.${text}`),
);

const values = fc.oneof(
  fc.constant({ model: 'nested', max_tokens: [1, { stream: true }] }),
  fc.constantFrom<unknown>(null, true, 1_000, -0.5, 1e21, [], {}, [[]], [{}]),
  texts,
  fc.array(texts, { maxLength: 3 }),
);

/** Unknown fields whose names may be mistaken for others. */
export const strangeFields = fc.dictionary(
  fc.constantFrom(
    'Model',
    ' model',
    'modèle',
    'mod"el',
    'x-model',
    '1',
    '__proto__',
    'constructor',
  ),
  values,
  { maxKeys: 4 },
);

export const shuffle = (fields: object) =>
  fc
    .shuffledSubarray(Object.entries(fields), { minLength: Object.keys(fields).length })
    .map((entries) => Object.fromEntries(entries) as Record<string, unknown>);

/** The result of a step, or the message with which it refuses. */
export function attempt<Result>(step: () => Result): Result | string {
  try {
    return step();
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

/** The text of a body that is sent in pieces. */
export function joinPieces(pieces: readonly Uint8Array[] | undefined): string | undefined {
  return pieces && Buffer.concat(pieces).toString('utf8');
}
