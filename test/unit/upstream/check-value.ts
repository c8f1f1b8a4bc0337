import { isObject } from '../../../src/protocol/schema.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Whether a value satisfies a schema: a plain reading of the keywords that the generator knows. */
export function checkValue(schema: unknown, value: unknown, root: unknown = schema): boolean {
  if (typeof schema === 'boolean') return schema;
  if (!isObject(schema)) return false;
  const satisfies = (part: unknown) => checkValue(part, value, root);
  const { $ref, allOf, anyOf, oneOf } = schema;
  if (typeof $ref === 'string' && !satisfies(find(root, $ref))) return false;
  if (Array.isArray(allOf) && !allOf.every(satisfies)) return false;
  if (Array.isArray(anyOf) && !anyOf.some(satisfies)) return false;
  if (Array.isArray(oneOf) && oneOf.filter(satisfies).length !== 1) return false;
  const isSame = (other: unknown) => JSON.stringify(other) === JSON.stringify(value);
  if (Object.hasOwn(schema, 'const') && !isSame(schema['const'])) return false;
  if (Array.isArray(schema['enum']) && !schema['enum'].some(isSame)) return false;
  const { type } = schema;
  if (type !== undefined && ![type].flat().some((name) => isOfType(value, name))) return false;
  if (typeof value === 'string') return checkString(schema, value);
  if (typeof value === 'number') return checkNumber(schema, value);
  if (Array.isArray(value)) return checkArray(schema, value, root);
  return !isObject(value) || checkObject(schema, value, root);
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}

const FORMATS: Readonly<Record<string, RegExp>> = {
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
  date: /^\d{4}-\d\d-\d\d$/,
  email: /^[^@\s]+@[^@\s]+\.[a-z]+$/,
  uri: /^https:\/\/\S+$/,
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  ipv4: /^\d{1,3}(\.\d{1,3}){3}$/,
};

function checkString(schema: Fields, value: string): boolean {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format } = schema;
  return (
    value.length >= Number(minLength) &&
    value.length <= Number(maxLength) &&
    (typeof pattern !== 'string' || new RegExp(pattern, 'u').test(value)) &&
    (typeof format !== 'string' || FORMATS[format]?.test(value) === true)
  );
}

function checkNumber(schema: Fields, value: number): boolean {
  const bound = (keyword: string, fallback: number) => Number(schema[keyword] ?? fallback);
  return (
    value >= bound('minimum', Number.NEGATIVE_INFINITY) &&
    value <= bound('maximum', Number.POSITIVE_INFINITY) &&
    value > bound('exclusiveMinimum', Number.NEGATIVE_INFINITY) &&
    value < bound('exclusiveMaximum', Number.POSITIVE_INFINITY) &&
    Number.isInteger(value / bound('multipleOf', value === 0 ? 1 : value))
  );
}

function checkArray(schema: Fields, value: readonly unknown[], root: unknown): boolean {
  const first = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : [];
  const texts = value.map((item) => JSON.stringify(item));
  return (
    value.length >= Number(schema['minItems'] ?? 0) &&
    value.length <= Number(schema['maxItems'] ?? Number.POSITIVE_INFINITY) &&
    (schema['uniqueItems'] !== true || new Set(texts).size === texts.length) &&
    value.every((item, i) => checkValue(first[i] ?? schema['items'] ?? true, item, root))
  );
}

function checkObject(schema: Fields, value: Fields, root: unknown): boolean {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return (
    required.every((name) => Object.hasOwn(value, name)) &&
    Object.keys(value).length >= Number(schema['minProperties'] ?? 0) &&
    Object.entries(value).every(([name, item]) =>
      checkValue(
        Object.hasOwn(properties, name)
          ? properties[name]
          : (schema['additionalProperties'] ?? true),
        item,
        root,
      ),
    )
  );
}

function find(root: unknown, reference: string): unknown {
  return reference
    .split('/')
    .slice(1)
    .reduce((part: unknown, name) => (isObject(part) ? part[name] : undefined), root);
}
