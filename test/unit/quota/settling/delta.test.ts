import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeDelta, deltaBytesMax, encodeDelta } from '../../../../src/quota/settling/delta.ts';

const OFFSET = 3;

function encode(bytes: Uint8Array, base: Uint8Array): Uint8Array {
  // Bytes beyond the promised number would be lost past the end, and the decoder would not find
  // them.
  const target = new Uint8Array(OFFSET + deltaBytesMax(bytes.length));
  return target.subarray(0, encodeDelta(bytes, base, target, OFFSET));
}

function roundTrip(bytes: Uint8Array, base: Uint8Array): Uint8Array {
  const delta = encode(bytes, base);
  const decoded = new Uint8Array(bytes.length);
  expect(decodeDelta(delta, OFFSET, base, decoded)).toBe(delta.length);
  return decoded;
}

const textBytes = (text: string) => new Uint8Array(Buffer.from(text));
/** Bytes of few different values, so that much is alike. */
const someBytes = fc.uint8Array({ max: 2, maxLength: 1_200 });

describe('a delta', () => {
  it('gives back what it was made of, whatever it was compared with', () => {
    fc.assert(
      fc.property(someBytes, someBytes, (bytes, base) => {
        expect(roundTrip(bytes, base)).toEqual(bytes);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), fc.uint8Array(), (bytes, base) => {
        expect(roundTrip(bytes, base)).toEqual(bytes);
      }),
    );
  });

  it('gives back a record in which fields became longer, shorter and others', () => {
    const fields = fc.array(fc.tuple(fc.string(), fc.string()), { maxLength: 30 });
    fc.assert(
      fc.property(fields, (pairs) => {
        const base = textBytes(pairs.map(([before]) => `the same here ${before}`).join());
        const bytes = textBytes(pairs.map(([, after]) => `the same here ${after}`).join());
        expect(roundTrip(bytes, base)).toEqual(bytes);
      }),
    );
  });

  it('has little of what is as before, also behind a number that takes more bytes', () => {
    const account = 'acct_2Bepc5FTjEzY plan pro, a hundred other things that never change';
    const base = textBytes(`req_1 ${account} 7 ${account}`);
    expect(encode(base, base).length - OFFSET).toBe(3);
    const next = textBytes(`req_2 ${account} 1234567 ${account}`);
    expect(encode(next, base).length - OFFSET).toBeLessThan(24);
    const last = textBytes(`req_3 ${account} 5 ${account}`);
    expect(encode(last, next).length - OFFSET).toBeLessThan(24);
  });

  it('of something entirely different is hardly longer than that', () => {
    const base = new Uint8Array(1_000).fill(1);
    const bytes = new Uint8Array(1_000).fill(2);
    expect(encode(bytes, base).length - OFFSET).toBe(1_000 + 3 * 4);
    expect(deltaBytesMax(1_000)).toBe(1_000 + 3 * 4);
  });
});
