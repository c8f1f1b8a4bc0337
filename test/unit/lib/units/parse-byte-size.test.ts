import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatByteSize, parseByteSize } from '../../../../src/lib/units/parse-byte-size.ts';

describe('parseByteSize', () => {
  it('reads each unit and plain numbers as bytes', () => {
    expect(['0', '1500', '512KiB', '32MiB', '1GiB'].map(parseByteSize)).toEqual([
      0, 1_500, 524_288, 33_554_432, 1_073_741_824,
    ]);
  });

  it('refuses units of a thousand, fractions and signs', () => {
    for (const text of ['', 'MiB', '32MB', '32M', '32mib', '1.5MiB', '-1', '1 KiB', '007', '1e3']) {
      expect(() => parseByteSize(text), text).toThrow('must be a size such as');
    }
  });

  it('refuses what a number cannot hold exactly', () => {
    expect(() => parseByteSize('9007199254740992')).toThrow('is too large a size');
  });

  it('gives back what formatByteSize wrote', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (bytes) => {
        expect(parseByteSize(formatByteSize(bytes))).toBe(bytes);
      }),
    );
  });
});

describe('formatByteSize', () => {
  it('uses the largest unit that loses nothing', () => {
    expect([0, 1_500, 1024, 33_554_432, 1024 ** 3].map(formatByteSize)).toEqual([
      '0',
      '1500',
      '1KiB',
      '32MiB',
      '1GiB',
    ]);
  });
});
