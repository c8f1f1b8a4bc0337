import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRetryBudget } from '../../../src/routing/retry-budget.ts';

it('lets a share of the first tries be repeated, and no more than was saved up besides', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.boolean(), { maxLength: 500 }),
      (share, burstMax, steps) => {
        const budget = createRetryBudget({ share, burstMax });
        let firstTries = 0;
        let retries = 0;
        for (const isFirst of steps) {
          if (isFirst) {
            firstTries += 1;
            budget.noteFirstTry();
          } else if (budget.takeRetry()) {
            retries += 1;
          }
        }
        expect(retries).toBeLessThanOrEqual(share * firstTries + burstMax + 1e-9);
      },
    ),
  );
});

it('grants the whole share while all fail', () => {
  const budget = createRetryBudget({ share: 0.25, burstMax: 4 });
  let retries = 0;
  for (let n = 0; n < 1_000; n += 1) {
    budget.noteFirstTry();
    while (budget.takeRetry()) retries += 1;
  }
  expect(retries).toBeGreaterThanOrEqual(250);
  expect(retries).toBeLessThanOrEqual(254);
});

it('saves up no more than its burst, however long all was well', () => {
  const budget = createRetryBudget({ share: 0.2, burstMax: 10 });
  for (let n = 0; n < 10_000; n += 1) budget.noteFirstTry();
  const granted = Array.from({ length: 50 }, () => budget.takeRetry());
  expect(granted.filter(Boolean)).toHaveLength(10);
});
