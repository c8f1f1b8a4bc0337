import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJsonBody } from '../../../../src/protocol/json/parse-json-body.ts';
import { spliceMembers } from '../../../../src/protocol/json/splice-json.ts';
import { joinPieces, texts, writeJson, writings } from '../written-bodies.ts';

const COPIED_BYTES_MAX = 16 * 1024;
const FUZZ_TIME_MS = 2_000;
const NAMES = ['a', 'b', 'c', 'd', 'e'];
const bodies = fc.dictionary(fc.constantFrom(...NAMES), texts);
const bytesOf = (text: string) => new TextEncoder().encode(text);

function splice(json: string, kept: readonly string[]) {
  return spliceMembers(readJsonBody(bytesOf(json)), '"added":1', (name) => kept.includes(name));
}

describe('a body that is spliced', () => {
  it('says the same in pieces, if it is large, as in one', () => {
    fc.assert(
      fc.property(bodies, writings, fc.subarray(NAMES), (body, writing, kept) => {
        const json = writeJson(body, writing);
        const [small, ...others] = splice(json, kept);
        const large = splice(json + ' '.repeat(COPIED_BYTES_MAX), kept);
        expect(others).toEqual([]);
        expect(joinPieces(large)).toBe(joinPieces([small ?? new Uint8Array()]));
        const said = Object.entries(body).filter(([name]) => kept.includes(name));
        expect(JSON.parse(joinPieces(large) ?? '')).toEqual({
          added: 1,
          ...Object.fromEntries(said),
        });
      }),
      { interruptAfterTimeLimit: FUZZ_TIME_MS },
    );
  });

  it('is not copied if it is large', () => {
    const bytes = bytesOf(JSON.stringify({ a: 'x', b: 'y'.repeat(COPIED_BYTES_MAX), c: 'z' }));
    const pieces = spliceMembers(readJsonBody(bytes), '"added":1', (name) => name !== 'a');
    const [longest] = [...pieces].sort((one, other) => other.length - one.length);
    expect(longest?.length).toBeGreaterThan(COPIED_BYTES_MAX);
    expect(longest?.buffer).toBe(bytes.buffer);
  });
});
