import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generateValue } from '../../../src/upstream/simulated/generating/generate-value.ts';
import { createRandom } from '../../../src/upstream/simulated/random.ts';
import { checkValue } from './check-value.ts';

const generate = (schema: unknown, seed = 1) => generateValue(schema, createRandom(seed));

/** Keywords that are sometimes left out. */
const optional = (keywords: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(keywords, { requiredKeys: [] });
const span = (low: string, high: string, most: number) =>
  fc
    .tuple(fc.nat(most), fc.nat(most))
    .map(([a, b]) => ({ [low]: Math.min(a, b), [high]: Math.max(a, b) }));

const PATTERNS = [
  '^[A-Z]{2}-\\d{3,5}$',
  '^(?:red|green|blue)(-\\d+)?$',
  '^[^a-z\\s]+\\.[\\w-]{2,4}$',
  'x*y+z?',
  '^\\+?[0-9]{1,3} (\\d{2} ){2}end$',
];

const { schema: anySchema } = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant({ type: 'boolean' }),
    fc.constant({ type: ['string', 'null'] }),
    fc.record({ const: fc.jsonValue() }),
    fc.record({ enum: fc.array(fc.jsonValue(), { minLength: 1, maxLength: 4 }) }),
    span('minLength', 'maxLength', 40).map((bounds) => ({ type: 'string', ...bounds })),
    fc
      .constantFrom('date-time', 'date', 'email', 'uri', 'uuid', 'ipv4')
      .map((format) => ({ type: 'string', format })),
    fc.constantFrom(...PATTERNS).map((pattern) => ({ type: 'string', pattern })),
    span('minimum', 'maximum', 1_000).map((bounds) => ({ type: 'integer', ...bounds })),
    fc
      .tuple(
        fc.double({ min: -10, max: 10, noNaN: true }),
        fc.double({ min: 0.001, max: 5, noNaN: true }),
      )
      .map(([low, size]) => ({
        type: 'number',
        exclusiveMinimum: low,
        exclusiveMaximum: low + size,
      })),
    fc
      .record({
        multipleOf: fc.constantFrom(0.5, 0.25, 3, 7),
        minimum: fc.integer({ min: -50, max: 50 }),
      })
      .chain((keywords) =>
        fc.constantFrom('integer', 'number').map((type) => ({ type, ...keywords })),
      ),
    fc
      .tuple(span('minItems', 'maxItems', 4), tie('schema'))
      .map(([bounds, items]) => ({ type: 'array', items, ...bounds })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((prefixItems) => ({
      type: 'array',
      prefixItems,
      minItems: prefixItems.length,
      items: false,
    })),
    fc
      .record({
        properties: fc.dictionary(fc.string({ maxLength: 5 }), tie('schema'), { maxKeys: 4 }),
        rest: optional({ additionalProperties: fc.oneof(fc.constant(false), tie('schema')) }),
        isRequired: fc.boolean(),
      })
      .map(({ properties, rest, isRequired }) => ({
        type: 'object',
        properties,
        ...rest,
        ...(isRequired && { required: Object.keys(properties) }),
      })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc.tuple(tie('schema'), tie('schema')).map(([one, other]) => ({
      oneOf: [
        { type: 'object', properties: { kind: { const: 'one' }, one }, required: ['kind'] },
        { type: 'object', properties: { kind: { const: 'other' }, other }, required: ['kind'] },
      ],
    })),
    fc.tuple(tie('schema'), tie('schema')).map(([one, other]) => ({
      allOf: [
        { type: 'object', properties: { one }, required: ['one'] },
        { properties: { other }, required: ['other'] },
      ],
    })),
    fc.constantFrom({ $ref: '#/$defs/tree' }, { $ref: '#/$defs/chain' }),
  ),
}));

/** Definitions that name themselves. */
const $defs = {
  tree: {
    type: 'object',
    properties: {
      name: { type: 'string' },
      children: { type: 'array', items: { $ref: '#/$defs/tree' } },
      parent: { $ref: '#/$defs/tree' },
    },
    required: ['name', 'children'],
    additionalProperties: false,
  },
  chain: {
    type: 'object',
    properties: { next: { anyOf: [{ $ref: '#/$defs/chain' }, { type: 'null' }] } },
    required: ['next'],
  },
};

describe('generateValue', () => {
  it('satisfies any schema of what it knows, and is the same for the same seed', () => {
    fc.assert(
      fc.property(anySchema, fc.nat(1_000), (part, seed) => {
        const schema = { ...part, $defs };
        const value = generate(schema, seed);
        expect(checkValue(schema, value), JSON.stringify(value)).toBe(true);
        expect(generate(schema, seed)).toEqual(value);
      }),
      { numRuns: 1_000 },
    );
  });

  it('prefers values to null and full objects to empty ones', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { anyOf: [{ type: 'null' }, { type: 'integer' }] },
        b: { type: ['null', 'string'] },
      },
    };
    expect(generate(schema)).toEqual({ a: expect.any(Number), b: expect.any(String) });
  });

  it('prefers small positive numbers to the ends of what numbers can be', () => {
    const { MIN_SAFE_INTEGER: minimum, MAX_SAFE_INTEGER: maximum } = Number;
    for (let seed = 0; seed < 50; seed++) {
      const value = generate({ type: 'integer', minimum, maximum }, seed);
      expect(value).toBeGreaterThanOrEqual(1);
      expect(value).toBeLessThanOrEqual(100);
    }
    expect(generate({ type: 'integer', minimum, maximum: -5 })).toBeGreaterThan(-105);
  });

  it('makes lists without repeats, as long as there are different values', () => {
    const colours = {
      type: 'array',
      items: { enum: ['red', 'blue'] },
      uniqueItems: true,
      minItems: 2,
    };
    for (let seed = 0; seed < 50; seed++) {
      expect(new Set(generate(colours, seed) as string[]).size).toBe(2);
    }
    expect(generate({ ...colours, minItems: 3 })).toHaveLength(2);
  });

  it('guesses the type that a schema does not name', () => {
    expect(generate({ properties: { a: {} } })).toEqual({ a: expect.any(String) });
    expect(generate({ items: { minimum: 5 } })).toEqual([expect.any(Number), expect.any(Number)]);
    expect(generate({})).toBeTypeOf('string');
    expect(generate(true)).toBeTypeOf('string');
  });

  it('keeps names that objects have anyway as names like any other', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"integer"},"constructor":{"type":"integer"}},"required":["toString"]}',
    );
    const value = generate(schema) as object;
    expect(Object.keys(value).toSorted()).toEqual(['__proto__', 'constructor', 'toString']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => {
      const next = { $ref: `#/$defs/d${index + 1}` };
      return [
        `d${index}`,
        { allOf: [next, next], properties: { a: next, b: next }, required: ['a', 'b'] },
      ];
    }),
  );
  it.each([
    ['a circle of references', { $ref: '#' }],
    [
      'an endless value',
      {
        $ref: '#/$defs/a',
        $defs: { a: { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, required: ['a'] } },
      },
    ],
    ['references that double', { $ref: '#/$defs/d0', $defs: doubling }],
    ['a billion items of a billion items', { minItems: 1e9, items: { minItems: 1e9, items: {} } }],
    [
      'as many choices for each of as many items',
      {
        minItems: 1e9,
        items: { anyOf: Array.from({ length: 200_000 }, (_, index) => ({ const: index })) },
      },
    ],
    ['a long text', { type: 'string', minLength: 1e12 }],
    [
      'a pattern that repeats nothing for ever',
      { type: 'string', pattern: '(((((){64}){64}){64}){64}){64}' },
    ],
    ['a pattern that looks ahead', { type: 'string', pattern: '^(?=x)x{2}$' }],
    ['a broken pattern', { type: 'string', pattern: '([a' }],
    ['bounds that exclude each other', { type: 'integer', minimum: 5, maximum: 1 }],
    [
      'keywords of the wrong type',
      { type: 7, enum: 1, required: 2, properties: 3, allOf: 4, minItems: 'x' },
    ],
    ['a reference to elsewhere', { $ref: 'https://example.com/schema' }],
  ])('comes to an end for %s', (_what, schema) => {
    expect(() => JSON.stringify(generate(schema))).not.toThrow();
  });
});
