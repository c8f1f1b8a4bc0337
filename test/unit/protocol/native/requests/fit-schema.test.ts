import { transformJSONSchema } from 'anthropic-sdk-1/lib/transform-json-schema';
import { describe, expect, it } from 'vitest';
import { fitSchema } from '../../../../../src/protocol/native/requests/fit-schema.ts';

const count = { type: 'integer', minimum: 1, maximum: 10 };

describe('the schema for a native model', () => {
  it.each([
    ['an object', { type: 'object', properties: { count }, required: ['count'] }],
    [
      'an object that may have more',
      { $schema: 'x', title: 'T', type: 'object', additionalProperties: { type: 'string' } },
    ],
    ['texts', { type: 'string', description: 'A name', minLength: 1, pattern: '^a', format: 'x' }],
    ['a text of a known format', { type: 'string', format: 'date-time' }],
    ['a list', { type: 'array', items: count, minItems: 1, maxItems: 3, uniqueItems: true }],
    ['a long list', { type: 'array', items: { type: 'object' }, minItems: 2 }],
    ['one of several', { oneOf: [count, { type: 'null' }], description: '' }],
    ['all of several', { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: count } }],
    ['literals', { type: 'string', enum: ['a', 'b'], default: 'a' }],
    ['one literal', { const: null }],
    ['literals that are lists', { type: 'array', enum: [[1]] }],
    ['a reference', { $ref: '#/$defs/a', description: 'x', $defs: { a: { type: 'object' } } }],
  ])("is what the vendor's own library makes of %s", (_, schema) => {
    expect(fitSchema(schema)).toEqual(transformJSONSchema(schema));
  });

  it('may have several types, older definitions, and schemas that are no objects', () => {
    const a = { type: ['object', 'null'], properties: { any: true, list: { type: ['array'] } } };
    expect(fitSchema({ type: 'object', properties: {}, definitions: { a } })).toEqual({
      type: 'object',
      properties: {},
      additionalProperties: false,
      definitions: { a: { ...a, additionalProperties: false } },
    });
    expect(fitSchema({})).toEqual({});
  });
});
