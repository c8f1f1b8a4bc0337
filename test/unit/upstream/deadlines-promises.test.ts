import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { emitAfter, type LIMITS, pass, start } from './deadlines-support.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

interface Pace {
  readonly gapMs: number;
  /** How long the client waits before it asks again. */
  readonly pauseMs: number;
}

/** Which event does not come, and why. Undefined if all events keep their deadlines. */
function predict(paces: readonly Pace[], limits: typeof LIMITS) {
  let elapsedMs = 0;
  for (const [index, { gapMs, pauseMs }] of paces.entries()) {
    const silenceMaxMs = index === 0 ? limits.firstByteMs : limits.idleMs;
    const leftMs = limits.totalMs - elapsedMs;
    // Exactly at a deadline, either may come first.
    fc.pre(gapMs !== silenceMaxMs && gapMs !== leftMs && silenceMaxMs !== leftMs);
    if (leftMs < Math.min(gapMs, silenceMaxMs)) return { index, why: /longer than/ };
    if (gapMs > silenceMaxMs) {
      return { index, why: index === 0 ? /did not begin/ : /said nothing/ };
    }
    elapsedMs += gapMs + pauseMs;
  }
  fc.pre(elapsedMs < limits.totalMs);
  return undefined;
}

it('lets an answer through exactly when it keeps every deadline, whatever its pace and the client', async () => {
  const limits = { firstByteMs: 2_500, idleMs: 2_000, totalMs: 15_000 };
  const gap = fc.integer({ min: 0, max: 2_100 });
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ gapMs: gap, pauseMs: gap }), { minLength: 1, maxLength: 12 }),
      fc.constantFrom(1, 1, 1, 2),
      async (paces, firstGapFactor) => {
        const [first, ...others] = paces;
        if (first === undefined) return;
        const all = [{ ...first, gapMs: first.gapMs * firstGapFactor }, ...others];
        const end = predict(all, limits);
        seen.add(String(end?.why));
        const { ask, aborted } = start(emitAfter(...all.map(({ gapMs }) => gapMs)), limits);
        for (const { gapMs, pauseMs } of all.slice(0, end?.index)) {
          const asked = ask();
          await pass(gapMs);
          expect(asked.got).toBe('event');
          await pass(pauseMs);
        }
        const last = ask();
        await pass(end === undefined ? 0 : limits.firstByteMs + 1);
        if (end === undefined) expect(last.got).toBe('done');
        else expect(last.got).toMatchObject({ message: expect.stringMatching(end.why) });
        expect(aborted).toHaveLength(end === undefined ? 0 : 1);
        vi.clearAllTimers();
      },
    ),
    { numRuns: 300 },
  );
  expect(seen.size).toBe(4);
});
