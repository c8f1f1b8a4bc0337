import { Refusal } from '../refusals.ts';
import { type JsonBody, readJsonBody } from './parse-json-body.ts';

const NAME_CHARS_MAX = 64;
/**
 * A letter outside the basic plane takes two, and a dot above it one more. No longer name is like a
 * known one; to fold it would take time that grows with the square of its length.
 */
const CHARS_OF_LETTER_MAX = 3;
const ASCII_NAME = /^[ -~]*$/;

/** The client chooses the names inside these fields, unless a format has another list. */
export const FREE_FORMS: readonly string[] = [
  ...['input', 'input_schema', 'parameters', 'schema', 'metadata', 'logit_bias'],
  'chat_template_kwargs',
];

/** The names of fields that are fixed, so that clients cannot choose them. */
export interface KnownNames {
  has(name: string): boolean;
  /** Returns the known name that some lenient readers would take this name for. */
  findLike(name: string): string | undefined;
  /** Whether the client chooses the names inside the field of this name. */
  isFree(name: string): boolean;
}

export function knowNames(names: Iterable<string>, freeForms = FREE_FORMS): KnownNames {
  const known = new Set(names);
  const free = new Set(freeForms);
  const byFold = new Map([...known].map((name) => [fold(name), name]));
  const charsMax = CHARS_OF_LETTER_MAX * Math.max(0, ...[...known].map(({ length }) => length));
  return {
    has: (name) => known.has(name),
    findLike: (name) => (name.length > charsMax ? undefined : byFold.get(fold(name))),
    isFree: (name) => free.has(name),
  };
}

/**
 * Returns a body in which each name means the same to every reader, as far as the body says what
 * is asked, of which model and at which price. That is the body itself, or the parsed value
 * re-encoded. Returns `undefined` if the body would have to be re-encoded but some of its texts
 * were left unread. Refuses names that only readers who ignore case take for known ones.
 */
export function unifyNames(body: JsonBody, knownNames: KnownNames): JsonBody | undefined {
  const { value, hasPlainNames, memberCount, longTexts } = body;
  if (countMembers(value, knownNames) === memberCount && hasPlainNames) return body;
  return longTexts.size > 0 ? undefined : readJsonBody(Buffer.from(JSON.stringify(value)));
}

/** Counts the members of all objects. `knownNames` is `undefined` where any name is allowed. */
function countMembers(value: unknown, knownNames: KnownNames | undefined): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === 'object') count += countMembers(item, knownNames);
    }
    return count;
  }
  // `for in` makes no list of names for each object. Parsed JSON has no inherited names.
  for (const name in value) {
    const field: unknown = (value as Readonly<Record<string, unknown>>)[name];
    count += 1;
    const isKnown = knownNames?.has(name) === true;
    if (!isKnown && knownNames !== undefined) checkName(name, knownNames);
    if (typeof field !== 'object') continue;
    count += countMembers(field, isKnown && !knownNames.isFree(name) ? knownNames : undefined);
  }
  return count;
}

function checkName(name: string, knownNames: KnownNames): void {
  const like = knownNames.findLike(name);
  if (like === undefined) return;
  const shown = name.slice(0, NAME_CHARS_MAX);
  const message = `${shown}: no field has this name; did you mean ${like}? Capitals count`;
  throw new Refusal('invalid_request', message, { param: shown });
}

/**
 * Folds a name as the most lenient reader would: it ignores case in every alphabet, and treats
 * variants of a letter as the same letter.
 */
function fold(name: string): string {
  if (ASCII_NAME.test(name)) return name.toLowerCase();
  return name
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase()
    .replace(/\u0307/g, '');
}
