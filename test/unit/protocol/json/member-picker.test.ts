import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemberPicker } from '../../../../src/protocol/json/member-picker.ts';

const NAMES = ['usage', 'error', 'type'];

function read(json: string, cuts: readonly number[] = []) {
  const bytes = Buffer.from(json);
  const picker = createMemberPicker(NAMES);
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length];
  let start = 0;
  for (const end of places.sort((a, b) => a - b)) {
    picker.add(bytes.subarray(start, end));
    start = end;
  }
  return picker;
}

function pick(json: string, cuts?: readonly number[]): unknown {
  return JSON.parse(read(json, cuts).finish());
}

const anyName = fc.oneof(fc.constantFrom(...NAMES), fc.string({ maxLength: 6 }));
const objects = fc.dictionary(anyName, fc.jsonValue({ maxDepth: 4 }), { maxKeys: 8 });

describe('the members that are picked from an object in pieces', () => {
  it('are those that a parser finds, wherever it is cut and however it is written', () => {
    const indents = fc.constantFrom(undefined, 1, '\t');
    const places = fc.array(fc.nat(), { maxLength: 6 });
    fc.assert(
      fc.property(objects, indents, places, (object, indent, cuts) => {
        const wanted = Object.entries(object).filter(([name]) => NAMES.includes(name));
        expect(pick(JSON.stringify(object, null, indent), cuts)).toEqual(
          JSON.parse(JSON.stringify(Object.fromEntries(wanted))),
        );
      }),
      { numRuns: 2_000, interruptAfterTimeLimit: 3_000 },
    );
  });

  it('come from a whole object only if it begins and ends, and nothing else is there', () => {
    fc.assert(
      fc.property(objects, fc.nat(), fc.array(fc.nat(), { maxLength: 6 }), (object, end, cuts) => {
        const json = JSON.stringify(object);
        expect(read(` ${json}\n`, cuts).isWhole()).toBe(true);
        expect(read(json.slice(0, end % json.length), cuts).isWhole()).toBe(false);
        for (const other of [`${json}x`, `x${json}`, `${json}${json}`, `[${json}]`, `"${json}`]) {
          expect(read(other, cuts).isWhole(), other).toBe(false);
        }
      }),
    );
    expect(read('<html>502 Bad Gateway</html>').isWhole()).toBe(false);
  });

  it('are none of those inside of others', () => {
    expect(pick('{"content":[{"usage":{"input_tokens":9}}],"usage":{"n":1}}')).toEqual({
      usage: { n: 1 },
    });
    expect(pick('{"content":"\\"usage\\":7,","usage":1}')).toEqual({ usage: 1 });
  });

  it('stay away when they are too long to be what is looked for', () => {
    const long = JSON.stringify({ usage: 'x'.repeat(100_000), type: 'message' });
    expect(pick(long)).toEqual({});
  });
});
