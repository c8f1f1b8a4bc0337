import { isObject } from '../../../protocol/schema.ts';

export type SchemaFields = Readonly<Record<string, unknown>>;

/** One schema that says what both say. Keywords that cannot be joined come from `other`. */
export function mergeSchemas(one: SchemaFields, other: SchemaFields): SchemaFields {
  const merged: Record<string, unknown> = { ...one };
  for (const [keyword, value] of Object.entries(other)) {
    merged[keyword] = Object.hasOwn(one, keyword)
      ? mergeKeyword(keyword, one[keyword], value)
      : value;
  }
  return merged;
}

function mergeKeyword(keyword: string, one: unknown, other: unknown): unknown {
  switch (keyword) {
    case 'minimum':
    case 'exclusiveMinimum':
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return Math.max(Number(one), Number(other));
    case 'maximum':
    case 'exclusiveMaximum':
    case 'maxLength':
    case 'maxItems':
      return Math.min(Number(one), Number(other));
    case 'required':
      return [...new Set([...itemsOf(one), ...itemsOf(other)])];
    case 'type':
      return intersectTypes(one, other);
    case 'enum': {
      const kept = new Set(itemsOf(other).map((value) => JSON.stringify(value)));
      return itemsOf(one).filter((value) => kept.has(JSON.stringify(value)));
    }
    case 'items':
    case 'additionalProperties':
      return { allOf: [one, other] };
    case 'properties':
      return mergeProperties(isObject(one) ? one : {}, isObject(other) ? other : {});
    default:
      return other;
  }
}

function mergeProperties(one: SchemaFields, other: SchemaFields): SchemaFields {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries(
    [...names].map((name) => {
      const given = [one, other].filter((from) => Object.hasOwn(from, name));
      return [name, given.length === 1 ? given[0]?.[name] : { allOf: [one[name], other[name]] }];
    }),
  );
}

/** The types that both allow. An integer is a number too. */
export function intersectTypes(one: unknown, other: unknown): unknown[] {
  const [ones, others] = [listOf(one), listOf(other)];
  const holds = (types: readonly unknown[], type: unknown) =>
    types.includes(type) || (type === 'integer' && types.includes('number'));
  return [
    ...ones.filter((type) => holds(others, type)),
    ...others.filter((type) => holds(ones, type) && !ones.includes(type)),
  ];
}

const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
