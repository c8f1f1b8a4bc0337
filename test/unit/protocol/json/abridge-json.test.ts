import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countUtf8Bytes } from '../../../../src/lib/bytes/count-utf8-bytes.ts';
import { chatFormat } from '../../../../src/protocol/chat/chat-format.ts';
import { chatRequestSchema } from '../../../../src/protocol/chat/requests/request-schema.ts';
import { abridgeJson, READ_FIELDS } from '../../../../src/protocol/json/abridge-json.ts';
import { JSON_NAME_BYTES_MAX, JSON_PARTS_MAX } from '../../../../src/protocol/json/json-place.ts';
import { type LongTexts, readJsonBody } from '../../../../src/protocol/json/parse-json-body.ts';
import { nativeFormat } from '../../../../src/protocol/native/native-format.ts';
import { nativeRequestSchema } from '../../../../src/protocol/native/requests/request-schema.ts';
import { responsesRequestSchema } from '../../../../src/protocol/responses/requests/request-schema.ts';
import { responsesFormat } from '../../../../src/protocol/responses/responses-format.ts';
import { isObject, type JsonSchema } from '../../../../src/protocol/schema.ts';
import { longTexts } from '../../long-texts.ts';
import { writeJson, writings } from '../written-bodies.ts';

const FUZZ_TIME_MS = 2_000;
const LONG = 'long '.repeat(200);

const abridge = (text: string) =>
  abridgeJson(Buffer.from(text), { members: new Set(['a', 'b']), wholeNames: new Set(['image']) });

/** Where the abridged value has another text, that text has to be a valid stand-in. */
function compare(abridged: unknown, whole: unknown, left: LongTexts): void {
  if (typeof whole === 'string' && abridged !== whole) {
    const standIn = String(abridged);
    expect(left.get(standIn)).toBe(countUtf8Bytes(whole));
    expect(whole.trim()).not.toBe('');
    expect(standIn.trimEnd() === standIn).toBe(whole.trimEnd() === whole);
  } else if (Array.isArray(whole) && Array.isArray(abridged)) {
    expect(abridged).toHaveLength(whole.length);
    whole.forEach((item, i) => {
      compare(abridged[i], item, left);
    });
  } else if (isObject(whole) && isObject(abridged)) {
    expect(Object.keys(abridged)).toEqual(Object.keys(whole));
    for (const name of Object.keys(whole)) compare(abridged[name], whole[name], left);
  } else expect(abridged).toBe(whole);
}

/** Collects the names of all fields in a schema whose texts have a maximum length or a pattern. */
function findLimitedFields(schema: JsonSchema, name: string, found: Set<string>): Set<string> {
  if (schema['maxLength'] !== undefined || schema['pattern'] !== undefined) found.add(name);
  for (const list of [schema['anyOf'], schema['allOf']]) {
    for (const item of (list ?? []) as JsonSchema[]) findLimitedFields(item, name, found);
  }
  const items = schema['items'] as JsonSchema | undefined;
  if (items !== undefined) findLimitedFields(items, name, found);
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>;
  for (const [field, inner] of Object.entries(properties)) findLimitedFields(inner, field, found);
  return found;
}

describe('JSON without its long texts', () => {
  it('is whole but for them, and knows what each of them takes', () => {
    let leftOut = 0;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(longTexts, fc.boolean()), { minLength: 1, maxLength: 6 }),
        writings,
        (texts, writing) => {
          const a = texts.map(([text, isList]) => (isList ? [{ text }, 1] : { text, id: 'x' }));
          const json = writeJson({ 'a"': 1, a, b: texts[0]?.[0], c: { text: LONG } }, writing);
          const body = abridge(json);
          // The text has too many escapes, which another test covers.
          if (body === undefined) return;
          const whole = readJsonBody(Buffer.from(json));
          compare(body.value, whole.value, body.longTexts);
          const { members, hasPlainNames } = whole;
          expect(body).toMatchObject({ members, hasPlainNames });
          expect(body.value['c']).toEqual({ text: LONG });
          leftOut += body.longTexts.size;
        },
      ),
      { numRuns: 2_000, interruptAfterTimeLimit: FUZZ_TIME_MS },
    );
    expect(leftOut).toBeGreaterThan(0);
  });

  it('has all texts that are short, blank, names, or looked at themselves', () => {
    const blank = `${' '.repeat(400)}\u3000\n${' '.repeat(400)}`;
    const a = {
      [LONG]: LONG,
      'na\\me': LONG,
      short: 'a'.repeat(500),
      blank,
      id: LONG,
      list: [{ name: LONG }],
    };
    const body = abridge(JSON.stringify({ a }));
    const value = body?.value['a'] as Record<string, unknown>;
    const { [LONG]: left, ...rest } = value;
    expect(rest).toEqual({ 'na\\me': LONG, short: a.short, blank, id: LONG, list: a.list });
    expect([...(body?.longTexts ?? [])]).toEqual([[left, LONG.length]]);
  });

  it('is read nowhere as something that it is not: what is no JSON is left to a whole reading', () => {
    const good = JSON.stringify({ a: LONG });
    const bad = [
      good.slice(0, -1),
      good.slice(0, -2),
      good.replace('long ', 'lo\ng '),
      good.replace('long ', 'lo\\xng '),
      good.replace('long ', 'lo\\u00zz '),
      `${good}}`,
      `\\${good}`,
      good.replace(':', ''),
      `[${good}]`,
      JSON.stringify(LONG),
      '',
    ];
    expect(bad.map((text) => abridge(text))).toEqual(bad.map(() => undefined));
    expect(abridge(`{"a":${'['.repeat(200)}${']'.repeat(200)}}`)).toBeUndefined();
  });

  it('is not made where a name stands that wants the whole, wherever that is', () => {
    const wants = (a: unknown) => abridge(JSON.stringify({ a, b: LONG })) === undefined;
    expect([{ image: 1 }, [{ x: [{ image: LONG }] }]].map(wants)).toEqual([true, true]);
    expect([{ imagE: 1 }, ['image'], { x: 'image' }].map(wants)).toEqual([false, false, false]);
    expect(abridge(JSON.stringify({ a: LONG, c: { image: 1 } }))?.longTexts.size).toBe(1);
  });

  it('is not made where there are more lists, objects and members than any body may have', () => {
    const bodyOf = (count: number) => `{"a":[${Array(count).fill('{}')},"${LONG}"]}`;
    const others = 3;
    expect(abridge(bodyOf(JSON_PARTS_MAX - others))?.longTexts.size).toBe(1);
    expect(abridge(bodyOf(JSON_PARTS_MAX - others + 1))).toBeUndefined();
  });

  it('is not made where a name is longer than any may be', () => {
    const [long, longest] = [JSON_NAME_BYTES_MAX + 1, JSON_NAME_BYTES_MAX].map((n) =>
      'n'.repeat(n),
    );
    for (const fieldsOf of [
      (name: string) => ({ a: [{ [name]: LONG }] }),
      (name: string) => ({ c: { [name]: 1 } }),
      (name: string) => ({ [name]: 1 }),
    ]) {
      const make = (name = '') => abridge(JSON.stringify({ ...fieldsOf(name), b: LONG }));
      expect(make(longest)).toBeDefined();
      expect(make(long)).toBeUndefined();
    }
  });

  it('is not made where reading all is quicker', () => {
    const dense = [
      `"${'\\u4e2d'.repeat(200)}"`,
      `"${'\\u4e2d-'.repeat(20_000)}"`,
      `${'\n'.repeat(100_000)}1`,
      `[${'"",'.repeat(30_000)}1]`,
      `{${'"":1,'.repeat(30_000)}"":1}`,
    ];
    expect(dense.map((a) => abridge(`{"a":${a},"b":"${LONG}"}`))).toEqual(
      dense.map(() => undefined),
    );
    const text = 'Some words, and \\u2019 or \\n or \\" now and then, as people write. '.repeat(
      999,
    );
    const indented = JSON.stringify({ a: [{ text: 'a' }, { text: LONG }] }, null, 8);
    for (const json of [`{"a":"${text}"}`, indented]) expect(abridge(json)?.longTexts.size).toBe(1);
  });

  it('looks at the texts of all fields that have a limit', () => {
    for (const [format, schema] of [
      [nativeFormat, nativeRequestSchema],
      [chatFormat, chatRequestSchema],
      [responsesFormat, responsesRequestSchema],
    ] as const) {
      const properties = schema.json['properties'] as Readonly<Record<string, JsonSchema>>;
      const limited = new Set<string>();
      for (const name of format.abridgment.members) {
        findLimitedFields(properties[name] ?? {}, name, limited);
      }
      expect([...limited].filter((name) => !READ_FIELDS.has(name))).toEqual([]);
    }
    expect(findLimitedFields(nativeRequestSchema.json, '', new Set())).toContain('tool_use_id');
  });
});
