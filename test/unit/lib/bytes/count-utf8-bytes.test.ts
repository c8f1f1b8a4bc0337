import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countUtf8Bytes } from '../../../../src/lib/bytes/count-utf8-bytes.ts';

describe('countUtf8Bytes', () => {
  it('counts what encoding the text would give', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        expect(countUtf8Bytes(text)).toBe(new TextEncoder().encode(text).length);
      }),
    );
  });

  it('counts a character that two pieces share once', () => {
    const [high = '', low = ''] = '😀'.split('');
    expect(countUtf8Bytes(high) + countUtf8Bytes(low)).toBe(4);
  });
});
