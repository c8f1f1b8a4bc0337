import fc from 'fast-check';
import { expect, it } from 'vitest';
import { shareConcurrency } from '../../../src/routing/share-concurrency.ts';

const count = (max: number) => fc.integer({ min: 1, max });

it('shares all places of a node among its workers, as evenly as they go, at least one for each', () => {
  fc.assert(
    fc.property(count(100_000), count(256), (places, workers) => {
      const shares = Array.from({ length: workers }, (_, index) =>
        shareConcurrency(places, index + 1, workers),
      );
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(Math.max(places, workers));
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
      expect(Math.min(...shares)).toBeGreaterThanOrEqual(1);
    }),
  );
});
