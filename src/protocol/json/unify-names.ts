import { Refusal } from '../refusals.ts';
import { type JsonBody, readJsonBody } from './parse-json-body.ts';

const NAME_CHARS_MAX = 64;

/** What is in these has names of the client's choice. */
const FREE_FORMS: ReadonlySet<string> = new Set([
  ...['input', 'input_schema', 'parameters', 'schema', 'metadata', 'logit_bias'],
  'chat_template_kwargs',
]);

/** What fields are called that clients have no choice to call otherwise. */
export interface KnownNames {
  has(name: string): boolean;
  /** The known name that differs from this one in what only some readers mind. */
  findLike(name: string): string | undefined;
}

export function knowNames(names: Iterable<string>): KnownNames {
  const known = new Set(names);
  const byFold = new Map([...known].map((name) => [fold(name), name]));
  return { has: (name) => known.has(name), findLike: (name) => byFold.get(fold(name)) };
}

/**
 * A body in which each name means one thing to every reader, as far as it says what is asked, of whom and at which price:
 * the same body where it is one, and otherwise what was read of it, written anew. `undefined` where some of it was not
 * read. Refuses names that only readers who do not mind capitals take for known ones.
 */
export function unifyNames(body: JsonBody, knownNames: KnownNames): JsonBody | undefined {
  const { value, hasPlainNames, memberCount, longTexts } = body;
  if (countMembers(value, knownNames) === memberCount && hasPlainNames) return body;
  return longTexts.size > 0 ? undefined : readJsonBody(Buffer.from(JSON.stringify(value)));
}

/** Of all objects. `undefined` for the names is where any name may stand. */
function countMembers(value: unknown, knownNames: KnownNames | undefined): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === 'object') count += countMembers(item, knownNames);
    }
    return count;
  }
  // Without a list of the names, which would be made for every object: JSON has no inherited ones.
  for (const name in value) {
    const field: unknown = (value as Readonly<Record<string, unknown>>)[name];
    count += 1;
    const isKnown = knownNames?.has(name) === true;
    if (!isKnown && knownNames !== undefined) checkName(name, knownNames);
    if (typeof field !== 'object') continue;
    count += countMembers(field, isKnown && !FREE_FORMS.has(name) ? knownNames : undefined);
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

/** As the most liberal of readers: by any alphabet's capitals, and by letters that are another's variants. */
function fold(name: string): string {
  return name
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase()
    .replace(/\u0307/g, '');
}
