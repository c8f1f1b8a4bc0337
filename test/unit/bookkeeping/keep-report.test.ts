import { expect, it } from 'vitest';
import { keepReport } from '../../../src/bookkeeping/keep-report.ts';

const REPORT = {
  ...{ isIngesting: true, lagMs: 900, waitingEntries: 7 },
  ...{ failure: undefined, facts: undefined },
};

it('tells the last report until the thread has told nothing for half a minute', () => {
  let elapsedMs = 1_000;
  const kept = keepReport(() => elapsedMs);
  expect(kept.read()).toBeUndefined();
  kept.note(REPORT);
  elapsedMs += 30_000;
  expect(kept.read()).toBe(REPORT);
  elapsedMs += 1;
  expect(kept.read()).toBeUndefined();
  const next = { ...REPORT, waitingEntries: 8 };
  kept.note(next);
  expect(kept.read()).toBe(next);
});

it('tells nothing of a thread that has ended', () => {
  const kept = keepReport(() => 0);
  kept.note(REPORT);
  kept.forget();
  expect(kept.read()).toBeUndefined();
});
