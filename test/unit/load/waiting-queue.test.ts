import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createWaitingQueue } from '../../../src/load/waiting-queue.ts';

const SIZE_MAX = 4;

it('gives back in order what there was room for', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 60 }), (steps) => {
      const queue = createWaitingQueue(SIZE_MAX);
      const kept: number[] = [];
      for (const [dueMs, isAdd] of steps.entries()) {
        if (!isAdd) expect(queue.take()).toBe(kept.shift());
        else {
          expect(queue.add(dueMs)).toBe(kept.length < SIZE_MAX);
          if (kept.length < SIZE_MAX) kept.push(dueMs);
        }
        expect(queue.size).toBe(kept.length);
      }
    }),
  );
});
