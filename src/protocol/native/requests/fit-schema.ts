import { isObject } from '../../schema.ts';

type Json = Readonly<Record<string, unknown>>;

/** The formats of texts that native models are held to. */
const FORMATS = [
  ...['date-time', 'time', 'date', 'duration'],
  ...['email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
];
const DEFINITIONS = ['$defs', 'definitions'];
/** Says nothing about the answer. */
const DIALECT = '$schema';

/**
 * Turns any JSON Schema into one that native models take, as the vendor's own client libraries
 * do: objects have no other properties than theirs, and the description says in words what has no
 * place in the schema.
 */
export function fitSchema(schema: Json): Json {
  const fitted = new Map<string, unknown>();
  const left = new Map(Object.entries(schema));
  const take = (name: string): unknown => {
    const value = left.get(name);
    left.delete(name);
    return value;
  };
  const keep = (name: string): void => {
    const value = take(name);
    if (value !== undefined) fitted.set(name, value);
  };

  left.delete(DIALECT);
  for (const name of DEFINITIONS) {
    if (isObject(schema[name])) fitted.set(name, fitEach(take(name)));
  }
  if (schema['$ref'] !== undefined) {
    return Object.fromEntries([...fitted, ['$ref', schema['$ref']]]);
  }
  const literals = listLiterals(schema);
  for (const name of literals) keep(name);
  const type = take('type');
  const choice = fitChoice(take('anyOf') ?? take('oneOf'), take('allOf'));
  if (choice !== undefined) fitted.set(choice[0], choice[1]);
  else if (literals.length === 0 && type !== undefined) fitted.set('type', type);
  keep('description');
  keep('title');

  if (isOf(type, 'object')) {
    fitted.set('properties', fitEach(take('properties')));
    left.delete('additionalProperties');
    fitted.set('additionalProperties', false);
    keep('required');
  }
  if (isOf(type, 'string') && FORMATS.includes(String(schema['format']))) keep('format');
  if (isOf(type, 'array')) {
    if (schema['items'] !== undefined) fitted.set('items', fitAny(take('items')));
    if (schema['minItems'] === 0 || schema['minItems'] === 1) keep('minItems');
  }
  if (left.size > 0) fitted.set('description', describe(fitted.get('description'), left));
  return Object.fromEntries(fitted);
}

/** A schema may be `true` as well. */
function fitAny(schema: unknown): unknown {
  return isObject(schema) ? fitSchema(schema) : schema;
}

function fitEach(schemas: unknown): Json {
  const named = Object.entries(isObject(schemas) ? schemas : {});
  return Object.fromEntries(named.map(([name, schema]) => [name, fitAny(schema)]));
}

function fitChoice(any: unknown, all: unknown): readonly [string, unknown] | undefined {
  if (Array.isArray(any)) return ['anyOf', any.map(fitAny)];
  return Array.isArray(all) ? ['allOf', all.map(fitAny)] : undefined;
}

/** Lists the terms that allow nothing but certain values. */
function listLiterals(schema: Json): readonly string[] {
  const names: string[] = [];
  if (isLiteralList(schema['enum'])) names.push('enum');
  if (isLiteral(schema['const'])) names.push('const');
  return names;
}

function isLiteral(value: unknown): boolean {
  return value === null || (value !== undefined && typeof value !== 'object');
}

function isLiteralList(values: unknown): boolean {
  return Array.isArray(values) && values.length > 0 && values.every(isLiteral);
}

function isOf(type: unknown, name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name));
}

function describe(description: unknown, left: ReadonlyMap<string, unknown>): string {
  const terms = [...left].map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ');
  return typeof description === 'string' && description !== ''
    ? `${description}\n\n{${terms}}`
    : `{${terms}}`;
}
