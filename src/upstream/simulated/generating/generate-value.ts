import { isObject } from '../../../protocol/schema.ts';
import { pickInteger, type Random } from '../random.ts';
import { generateNumber } from './generate-number.ts';
import { generateString, pickWord } from './generate-string.ts';
import type { SchemaFields } from './merge-schemas.ts';
import { createSchemaReader, type SchemaReader } from './schema-reader.ts';

/** From this depth on, only required parts are generated. */
const DEPTH_FULL_MAX = 4;
/** No value is nested deeper, whatever the schema says. */
const DEPTH_MAX = 32;
const VALUES_MAX = 10_000;
const ITEMS_MAX = 1_000;
const ITEMS_USUAL = 2;
const UNIQUE_TRIES_MAX = 20;

interface Generation {
  readonly reader: SchemaReader;
  readonly random: Random;
  values: number;
}

/**
 * A value that satisfies a JSON Schema: type, enum, const, properties, required,
 * additionalProperties, minProperties, items, prefixItems, minItems, maxItems, uniqueItems, the
 * bounds of numbers and strings, the usual formats, plain patterns, anyOf, oneOf (if one choice
 * excludes the others), allOf and $ref within the schema. Other keywords are ignored. The size of
 * the value is bounded, whatever the schema says.
 */
export function generateValue(schema: unknown, random: Random): unknown {
  return generate(schema, 0, { reader: createSchemaReader(schema, random), random, values: 0 });
}

function generate(schema: unknown, depth: number, generation: Generation): unknown {
  generation.values += 1;
  if (depth > DEPTH_MAX || generation.values > VALUES_MAX) return null;
  const { random } = generation;
  const flat = generation.reader.flatten(schema, depth >= DEPTH_FULL_MAX);
  if (Object.hasOwn(flat, 'const')) return flat['const'];
  const type = pickType(flat, random);
  const listed = flat['enum'];
  if (Array.isArray(listed) && listed.length > 0) return pickListed(listed, flat, random);
  switch (type) {
    case 'object':
      return generateObject(flat, depth, generation);
    case 'array':
      return generateArray(flat, depth, generation);
    case 'integer':
    case 'number':
      return generateNumber(flat, type === 'integer', random);
    case 'boolean':
      return random() < 0.5;
    case 'null':
      return null;
    default:
      return generateString(flat, random);
  }
}

function pickListed(listed: readonly unknown[], flat: SchemaFields, random: Random): unknown {
  const types = typesOf(flat);
  const fitting = listed.filter(
    (value) => types.length === 0 || types.some((type) => isOfType(value, type)),
  );
  const candidates = fitting.length > 0 ? fitting : listed;
  return candidates[pickInteger(0, candidates.length - 1, random)];
}

function isOfType(value: unknown, type: unknown): boolean {
  if (value === null) return type === 'null';
  if (Array.isArray(value)) return type === 'array';
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

function typesOf(flat: SchemaFields): readonly unknown[] {
  const type = flat['type'];
  if (Array.isArray(type)) return type;
  return type === undefined ? [] : [type];
}

/** Schemas often leave out the type. Then other keywords imply it. */
function pickType(flat: SchemaFields, random: Random): unknown {
  const types = typesOf(flat);
  const values = types.filter((type) => type !== 'null');
  if (values.length > 0) return values[pickInteger(0, values.length - 1, random)];
  if (types.length > 0) return 'null';
  const says = (...keywords: string[]) => keywords.some((keyword) => Object.hasOwn(flat, keyword));
  if (says('properties', 'required', 'additionalProperties', 'minProperties')) return 'object';
  if (says('items', 'prefixItems', 'minItems', 'maxItems')) return 'array';
  if (says('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf')) {
    return 'number';
  }
  return 'string';
}

function generateObject(flat: SchemaFields, depth: number, generation: Generation) {
  const properties = isObject(flat['properties']) ? flat['properties'] : {};
  const required = new Set(Array.isArray(flat['required']) ? flat['required'].map(String) : []);
  const entries: [string, unknown][] = [];
  for (const [name, schema] of Object.entries(properties)) {
    if (schema === false || (depth >= DEPTH_FULL_MAX && !required.has(name))) continue;
    entries.push([name, generate(schema, depth + 1, generation)]);
  }
  const rest = flat['additionalProperties'] ?? { type: 'string' };
  const addRest = (name: string) => entries.push([name, generate(rest, depth + 1, generation)]);
  for (const name of required) if (!Object.hasOwn(properties, name)) addRest(name);
  const entriesMin = rest === false ? 0 : Math.min(Number(flat['minProperties'] ?? 0), ITEMS_MAX);
  for (let number = 1; entries.length < entriesMin; number += 1) addRest(`entry_${number}`);
  return Object.fromEntries(entries);
}

function generateArray(flat: SchemaFields, depth: number, generation: Generation): unknown[] {
  const first = Array.isArray(flat['prefixItems']) ? flat['prefixItems'] : [];
  const itemsMin = Math.min(Number(flat['minItems'] ?? 0), ITEMS_MAX);
  const itemsMax = flat['items'] === false ? first.length : Number(flat['maxItems'] ?? ITEMS_MAX);
  const usual = depth >= DEPTH_FULL_MAX ? 0 : Math.max(ITEMS_USUAL, first.length);
  const count = Math.min(itemsMax, Math.max(itemsMin, usual));
  const isUnique = flat['uniqueItems'] === true;
  const values: unknown[] = [];
  const seen = new Set<string>();
  let tries = 0;
  while (values.length < count && generation.values < VALUES_MAX) {
    const schema = first[values.length] ?? flat['items'] ?? { type: 'string' };
    const value = generate(schema, depth + 1, generation);
    const text = JSON.stringify(value);
    // There may be fewer different values than usual, as in a list of all colours.
    if (isUnique && seen.has(text) && tries < UNIQUE_TRIES_MAX) tries += 1;
    else if (isUnique && seen.has(text)) break;
    else {
      tries = 0;
      seen.add(text);
      values.push(value);
    }
  }
  return values;
}

/** For requests without a schema to satisfy. */
export function generateAnyObject(random: Random): Readonly<Record<string, unknown>> {
  return { answer: pickWord(random), simulated: true };
}
