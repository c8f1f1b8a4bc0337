import { describe, expect, it } from 'vitest';
import {
  JSON_DEPTH_MAX,
  JSON_FIELDS_MAX,
  JSON_NAME_BYTES_MAX,
  JSON_PARTS_MAX,
} from '../../../../src/protocol/json/json-place.ts';
import { parseJsonBody } from '../../../../src/protocol/json/parse-json-body.ts';
import { Refusal } from '../../../../src/protocol/refusals.ts';

const parse = (text: string) => parseJsonBody(new TextEncoder().encode(text));

function messageOf(bytes: Uint8Array): string {
  try {
    parseJsonBody(bytes);
    return 'no refusal';
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect(error.refusal).toBe('invalid_request');
    return error.message;
  }
}

const messageOfText = (text: string) => messageOf(new TextEncoder().encode(text));
const nest = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

describe('the JSON body of a request', () => {
  it('is read with its characters and behind a byte order mark', () => {
    expect(parse('{"a":"ö🌍","b":[1,{}]}')).toEqual({ a: 'ö🌍', b: [1, {}] });
    expect(parse('\uFEFF{"a":1}')).toEqual({ a: 1 });
  });

  it('is refused when it is empty, cut off, not UTF-8 or no object', () => {
    expect(messageOfText('')).toBe('Invalid JSON: the request body is empty');
    expect(messageOfText(' \n')).toBe('Invalid JSON: the request body is empty');
    expect(messageOfText('{"a":')).toContain('Invalid JSON');
    expect(messageOfText('{"a":"')).toContain('Invalid JSON');
    expect(messageOf(new Uint8Array([0x7b, 0xff, 0x7d]))).toBe(
      'Invalid JSON: the request body is not valid UTF-8',
    );
    for (const text of ['[]', 'null', '1', '"a"']) {
      expect(messageOfText(text)).toBe('Invalid JSON: the request body should be an object');
    }
  });

  it('is not quoted in its refusal', () => {
    expect(messageOfText('{"a": secret-word}')).not.toContain('secret-word');
  });

  it('may be nested as deep as the bound, and no deeper', () => {
    expect(() => parse(nest(JSON_DEPTH_MAX))).not.toThrow();
    expect(messageOfText(nest(JSON_DEPTH_MAX + 1))).toBe(
      `Invalid JSON: nested deeper than ${JSON_DEPTH_MAX} levels`,
    );
  });

  it('may have names as long as the bound, and no longer, in any object', () => {
    const nameOf = (bytes: number, value: string) =>
      `{"a": [ {"${'n'.repeat(bytes)}" \n: ${value}} ]}`;
    const long = `"${'v'.repeat(2 * JSON_NAME_BYTES_MAX)}"`;
    expect(messageOfText(nameOf(JSON_NAME_BYTES_MAX, long))).toBe('no refusal');
    expect(messageOfText(nameOf(JSON_NAME_BYTES_MAX + 1, '1'))).toBe(
      `Invalid JSON: the name of a member is longer than ${JSON_NAME_BYTES_MAX} bytes`,
    );
  });

  it('may have as many lists, objects and members as the bound, and no more', () => {
    const message = `Invalid JSON: more than ${JSON_PARTS_MAX} lists, objects and members of objects`;
    for (const list of ['[]', '{}', '{"b":1}']) {
      const partsOfOne = list === '{"b":1}' ? 2 : 1;
      const bodyOf = (count: number) => `{"a":[${Array(count / partsOfOne).fill(list)}],"m":1}`;
      const others = 4;
      expect(messageOfText(bodyOf(JSON_PARTS_MAX - others))).toBe('no refusal');
      expect(messageOfText(bodyOf(JSON_PARTS_MAX - others + 2))).toBe(message);
    }
    // Not valid JSON: it is refused before a parser sees it.
    expect(messageOfText(`{"a":[${'{},'.repeat(JSON_PARTS_MAX)}`)).toBe(message);
    expect(messageOfText(`{${'"a":0,'.repeat(JSON_PARTS_MAX)}`)).toBe(message);
  });

  it('may have as many fields as the bound, and no more', () => {
    const bodyOf = (count: number) => `{${Array(count).fill('"a":0')}}`;
    expect(messageOfText(bodyOf(JSON_FIELDS_MAX))).toBe('no refusal');
    expect(messageOfText(bodyOf(JSON_FIELDS_MAX + 1))).toBe(
      `Invalid JSON: the request body has more than ${JSON_FIELDS_MAX} fields`,
    );
  });

  it('may have any number of numbers', () => {
    expect(messageOfText(`{"a":[${Array(2 * JSON_PARTS_MAX).fill(7)}]}`)).toBe('no refusal');
  });

  it('may have any number of brackets in its texts', () => {
    const body = { a: '['.repeat(1_000), b: `\\"${'{'.repeat(1_000)}`, '[[[\\': '"[' };
    expect(parse(JSON.stringify(body))).toEqual(body);
  });

  it('is refused when it is made of nothing but brackets or escapes, however many', () => {
    // A reader that came back to each of them would not end within this test.
    expect(messageOfText('['.repeat(10_000))).toContain('nested deeper');
    expect(messageOfText('{"a":'.repeat(10_000))).toContain('nested deeper');
    expect(messageOfText('['.repeat(20_000_000))).toContain('nested deeper');
    expect(messageOfText(`{"${'\\'.repeat(5_000_000)}`)).toContain('Invalid JSON');
    expect(messageOfText(`{"${'\\"'.repeat(2_000_000)}`)).toContain('Invalid JSON');
  });

  it('keeps a key named like a prototype as plain data', () => {
    const body = parse('{"__proto__":{"polluted":true}}') as Record<string, unknown>;
    expect(Object.keys(body)).toEqual(['__proto__']);
    expect(body['polluted']).toBeUndefined();
  });
});
