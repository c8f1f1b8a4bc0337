import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatheredBytes } from '../../../../src/lib/bytes/gathered-bytes.ts';

describe('gathered bytes', () => {
  it('are all pieces, one behind the other, however often they are taken', () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 30 });
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 3 }), (rounds) => {
        const gathered = new GatheredBytes();
        for (const round of rounds) {
          for (const piece of round) {
            const memory = piece.slice();
            gathered.add(memory);
            // A socket reads into the same memory again.
            memory.fill(0);
          }
          const all = Buffer.concat(round);
          expect(gathered.length).toBe(all.length);
          expect(gathered.take()).toEqual(all);
        }
      }),
    );
  });
});
