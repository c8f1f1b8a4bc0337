import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createWaitingLine } from '../../../src/load/waiting-line.ts';

const SIZE_MAX = 4;

it('gives back in order what there was room for', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 60 }), (steps) => {
      const line = createWaitingLine(SIZE_MAX);
      const kept: number[] = [];
      for (const [dueMs, isAdd] of steps.entries()) {
        if (!isAdd) expect(line.take()).toBe(kept.shift());
        else {
          expect(line.add(dueMs)).toBe(kept.length < SIZE_MAX);
          if (kept.length < SIZE_MAX) kept.push(dueMs);
        }
        expect(line.size).toBe(kept.length);
      }
    }),
  );
});
