/** What is wrong with a value, and where. `path` joins keys and indexes with dots. */
export interface SchemaProblem {
  readonly path: string;
  readonly kind: 'missing' | 'invalid';
  readonly message: string;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * A schema both checks what clients send and is published as JSON Schema. Checking a valid value
 * allocates nothing: a path is built only on the way back from a problem.
 */
export interface Schema {
  check(value: unknown): SchemaProblem | undefined;
  readonly json: JsonSchema;
}

type Fields = Readonly<Record<string, Schema>>;

const invalid = (message: string): SchemaProblem => ({ path: '', kind: 'invalid', message });

function under(key: string | number, problem: SchemaProblem): SchemaProblem {
  const path = problem.path === '' ? String(key) : `${key}.${problem.path}`;
  return { ...problem, path };
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface TextRules {
  readonly charsMin?: number;
  readonly charsMax?: number;
  readonly pattern?: RegExp;
}

export function text({ charsMin = 0, charsMax, pattern }: TextRules = {}): Schema {
  return {
    json: {
      type: 'string',
      ...(charsMin > 0 && { minLength: charsMin }),
      ...(charsMax !== undefined && { maxLength: charsMax }),
      ...(pattern !== undefined && { pattern: pattern.source }),
    },
    check(value) {
      if (typeof value !== 'string') return invalid('Input should be a valid string');
      if (value.length < charsMin) {
        return invalid(
          `String should have at least ${charsMin} character${charsMin === 1 ? '' : 's'}`,
        );
      }
      if (charsMax !== undefined && value.length > charsMax) {
        return invalid(`String should have at most ${charsMax} characters`);
      }
      if (pattern !== undefined && !pattern.test(value)) {
        return invalid(`String should match pattern '${pattern.source}'`);
      }
      return undefined;
    },
  };
}

interface Range {
  readonly min?: number;
  readonly max?: number;
}

function checkRange(value: number, { min, max }: Range): SchemaProblem | undefined {
  if (min !== undefined && value < min) {
    return invalid(`Input should be greater than or equal to ${min}`);
  }
  if (max !== undefined && value > max) {
    return invalid(`Input should be less than or equal to ${max}`);
  }
  return undefined;
}

const rangeJson = ({ min, max }: Range) => ({
  ...(min !== undefined && { minimum: min }),
  ...(max !== undefined && { maximum: max }),
});

export function integer(range: Range = {}): Schema {
  return {
    json: { type: 'integer', ...rangeJson(range) },
    check: (value) =>
      Number.isSafeInteger(value)
        ? checkRange(value as number, range)
        : invalid('Input should be a valid integer'),
  };
}

export function number(range: Range = {}): Schema {
  return {
    json: { type: 'number', ...rangeJson(range) },
    check: (value) =>
      Number.isFinite(value)
        ? checkRange(value as number, range)
        : invalid('Input should be a valid number'),
  };
}

export const boolean: Schema = {
  json: { type: 'boolean' },
  check: (value) =>
    typeof value === 'boolean' ? undefined : invalid('Input should be a valid boolean'),
};

/** Allows any JSON value. */
export const anything: Schema = { json: {}, check: () => undefined };

export function oneOf(...values: readonly string[]): Schema {
  const quoted = values.map((value) => `'${value}'`);
  const listed =
    quoted.length < 2
      ? quoted.join('')
      : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1) ?? ''}`;
  return {
    json: { type: 'string', enum: values },
    check: (value) =>
      typeof value === 'string' && values.includes(value)
        ? undefined
        : invalid(`Input should be ${listed}`),
  };
}

/** Allows `null` instead of a value. `null` means the same as a missing field. */
export function nullable(schema: Schema): Schema {
  return {
    json: { anyOf: [schema.json, { type: 'null' }] },
    check: (value) => (value === null ? undefined : schema.check(value)),
  };
}

interface ListRules {
  readonly itemsMin?: number;
  readonly itemsMax?: number;
}

export function list(item: Schema, { itemsMin = 0, itemsMax }: ListRules = {}): Schema {
  return {
    json: {
      type: 'array',
      items: item.json,
      ...(itemsMin > 0 && { minItems: itemsMin }),
      ...(itemsMax !== undefined && { maxItems: itemsMax }),
    },
    check(value) {
      if (!Array.isArray(value)) return invalid('Input should be a valid list');
      if (value.length < itemsMin) {
        return invalid(`List should have at least ${itemsMin} item${itemsMin === 1 ? '' : 's'}`);
      }
      if (itemsMax !== undefined && value.length > itemsMax) {
        return invalid(`List should have at most ${itemsMax} items`);
      }
      for (let i = 0; i < value.length; i++) {
        const problem = item.check(value[i]);
        if (problem !== undefined) return under(i, problem);
      }
      return undefined;
    },
  };
}

/** Allows unknown fields, because clients may be newer than this server. */
export function object(required: Fields, optional: Fields = {}): Schema {
  const requiredNames = Object.keys(required);
  const all = Object.entries({ ...required, ...optional });
  const fields = all.map(([name, schema]) => {
    return { name, schema, isRequired: Object.hasOwn(required, name) };
  });
  return {
    json: {
      type: 'object',
      properties: Object.fromEntries(all.map(([name, schema]) => [name, schema.json])),
      ...(requiredNames.length > 0 && { required: requiredNames }),
    },
    check(value) {
      if (!isObject(value)) return invalid('Input should be a valid dictionary');
      for (const { name, schema, isRequired } of fields) {
        // JSON has no `undefined`, and no field has a name that every object inherits.
        const field = value[name];
        if (field !== undefined) {
          const problem = schema.check(field);
          if (problem !== undefined) return under(name, problem);
        } else if (isRequired) return { path: name, kind: 'missing', message: 'Field required' };
      }
      return undefined;
    },
  };
}

/** Returns the field names of an object's schema. */
export function namesOf({ json }: Schema): readonly string[] {
  const { properties } = json;
  return isObject(properties) ? Object.keys(properties) : [];
}

/** Returns the field names of all objects in the schema, at any depth. */
export function listNames({ json }: Schema): readonly string[] {
  const names: string[] = [];
  const rest: unknown[] = [json];
  while (rest.length > 0) {
    const next = rest.pop();
    if (Array.isArray(next)) rest.push(...next);
    else if (isObject(next)) {
      if (isObject(next['properties'])) names.push(...Object.keys(next['properties']));
      rest.push(...Object.values(next));
    }
  }
  return names;
}

/** Allows a map whose names the client chooses. */
export function map(values: Schema): Schema {
  return {
    json: { type: 'object', additionalProperties: values.json },
    check(value) {
      if (!isObject(value)) return invalid('Input should be a valid dictionary');
      for (const name of Object.keys(value)) {
        const problem = values.check(value[name]);
        if (problem !== undefined) return under(name, problem);
      }
      return undefined;
    },
  };
}

/** Allows a text by these rules, or whatever `schema` allows. */
export function textOr(rules: TextRules, schema: Schema): Schema {
  const plain = text(rules);
  return {
    json: { anyOf: [plain.json, schema.json] },
    check: (value) => (typeof value === 'string' ? plain.check(value) : schema.check(value)),
  };
}

interface TaggedRules {
  /** Builds the message for an unknown tag. Without it, a value with an unknown tag is allowed. */
  readonly unknownTag?: (tag: string) => string;
}

/** Allows objects whose field `tagName` says what kind they are. */
export function tagged(tagName: string, kinds: Fields, { unknownTag }: TaggedRules = {}): Schema {
  const byTag = new Map(Object.entries(kinds));
  return {
    json: {
      anyOf: [
        ...Object.entries(kinds).map(([tag, schema]) => ({
          allOf: [
            { type: 'object', properties: { [tagName]: { const: tag } }, required: [tagName] },
            schema.json,
          ],
        })),
        ...(unknownTag === undefined ? [createUnknownKind(tagName, Object.keys(kinds))] : []),
      ],
    },
    check(value) {
      if (!isObject(value)) return invalid('Input should be a valid dictionary');
      const tag = value[tagName];
      if (tag === undefined) return { path: tagName, kind: 'missing', message: 'Field required' };
      if (typeof tag !== 'string') return under(tagName, invalid('Input should be a valid string'));
      const schema = byTag.get(tag);
      if (schema !== undefined) return schema.check(value);
      return unknownTag === undefined ? undefined : under(tagName, invalid(unknownTag(tag)));
    },
  };
}

function createUnknownKind(tagName: string, knownTags: readonly string[]): JsonSchema {
  const tag = { type: 'string', not: { enum: knownTags } };
  return { type: 'object', properties: { [tagName]: tag }, required: [tagName] };
}
