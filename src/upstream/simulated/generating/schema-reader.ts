import { isObject } from '../../../protocol/schema.ts';
import { pickInteger, type Random } from '../random.ts';
import { intersectTypes, mergeSchemas, type SchemaFields } from './merge-schemas.ts';

/** References that lead to references, and choices within choices, are followed this far. */
const STEPS_MAX = 32;
/**
 * Parts that name their own parts twice double the work with every step. The rest of such a schema
 * is ignored.
 */
const WORK_MAX = 100_000;
const WORK_PER_PART = 10;
/** The height of a schema for which no end was found. */
const ENDLESS = Number.POSITIVE_INFINITY;

export interface SchemaReader {
  /** The schema with its references followed, its parts joined and one of its choices made. */
  flatten(schema: unknown, isEnding: boolean): SchemaFields;
}

/** Reads schemas that may refer to parts of `root`. */
export function createSchemaReader(root: unknown, random: Random): SchemaReader {
  const heights = new Map<object, number>();
  let work = 0;

  function flatten(schema: unknown, isEnding: boolean, steps = 0): SchemaFields {
    if (!isObject(schema) || steps > STEPS_MAX || work > WORK_MAX) return {};
    work += WORK_PER_PART + sizeOf(schema);
    const { $ref, allOf, anyOf, oneOf, ...own } = schema;
    let merged: SchemaFields = own;
    const join = (part: unknown) => {
      merged = mergeSchemas(merged, flatten(part, isEnding, steps + 1));
    };
    if (typeof $ref === 'string') join(resolveReference(root, $ref));
    if (Array.isArray(allOf)) for (const part of allOf) join(part);
    for (const choices of [anyOf, oneOf]) {
      if (Array.isArray(choices) && choices.length > 0) join(choose(choices, merged, isEnding));
    }
    return merged;
  }

  /**
   * A value is nicer than `null`. If the value has to end, the choice that ends soonest is best.
   */
  function choose(choices: readonly unknown[], base: SchemaFields, isEnding: boolean): unknown {
    const possible = choices.filter((choice) => isPossible(base, choice));
    if (isEnding) {
      const lowest = minOf(possible.map((choice) => heightOf(choice)));
      return possible.find((choice) => heightOf(choice) === lowest);
    }
    const values = possible.filter((choice) => !isNull(choice));
    const candidates = values.length > 0 ? values : possible;
    return candidates[pickInteger(0, candidates.length - 1, random)];
  }

  /**
   * How many levels a value needs at least. A schema that is still being measured refers to itself,
   * and has no end.
   */
  function heightOf(schema: unknown, depth = 0): number {
    if (!isObject(schema)) return 0;
    if (depth > STEPS_MAX) return ENDLESS;
    const known = heights.get(schema);
    if (known !== undefined) return known;
    heights.set(schema, ENDLESS);
    const measure = (part: unknown) => heightOf(part, depth + 1);
    const properties = isObject(schema['properties']) ? schema['properties'] : {};
    const inner = listOf(schema['required'])
      .filter((name) => typeof name === 'string' && Object.hasOwn(properties, name))
      .map((name) => measure(properties[String(name)]));
    if (Number(schema['minItems']) > 0) inner.push(measure(schema['items']));
    const beside = listOf(schema['allOf']).map(measure);
    if (typeof schema['$ref'] === 'string') {
      beside.push(measure(resolveReference(root, schema['$ref'])));
    }
    for (const choices of [schema['anyOf'], schema['oneOf']]) {
      if (listOf(choices).length > 0) beside.push(minOf(listOf(choices).map(measure)));
    }
    const height = maxOf([...inner.map((levels) => levels + 1), ...beside]);
    heights.set(schema, height);
    return height;
  }

  return { flatten };
}

/** How many items its lists and maps have, which is what reading it costs. */
function sizeOf(schema: SchemaFields): number {
  return Object.values(schema)
    .map((value) => (typeof value === 'object' && value !== null ? Object.keys(value).length : 0))
    .reduce((one, other) => one + other, 0);
}

/** Follows references within the schema only: nothing is fetched. */
function resolveReference(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#')) return {};
  let part = root;
  for (const step of reference.slice(1).split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(part)) part = part[Number(name)];
    else part = isObject(part) && Object.hasOwn(part, name) ? part[name] : {};
  }
  return part;
}

function isNull(schema: unknown): boolean {
  return isObject(schema) && (schema['type'] === 'null' || schema['const'] === null);
}

/** A choice is impossible if the rest of the schema rules out its type. */
function isPossible(base: SchemaFields, choice: unknown): boolean {
  if (choice === false) return false;
  const own = isObject(choice) ? choice['type'] : undefined;
  if (own === undefined || base['type'] === undefined) return true;
  return intersectTypes(base['type'], own).length > 0;
}

// Not spread into Math.min: a client can list more values than a function takes arguments.
const minOf = (values: readonly number[]) =>
  values.reduce((one, other) => Math.min(one, other), ENDLESS);
const maxOf = (values: readonly number[]) => values.reduce((one, other) => Math.max(one, other), 0);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
