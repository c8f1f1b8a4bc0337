import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Refusal } from '../../../src/protocol/refusals.ts';
import type { Try } from '../../../src/protocol/try.ts';
import { type FailureKind, UpstreamFailure } from '../../../src/routing/upstream-failure.ts';
import { createRandom } from '../../../src/upstream/simulated/random.ts';
import { type Act, createStage, errorOf, PATIENCE_MS, pass, run } from './retry-support.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const SHARE = 0.2;
const BURST_MAX = 5;

const KINDS: readonly FailureKind[] = [
  'refused',
  'overloaded',
  'broken',
  'unreachable',
  'denied',
  'slow',
];

const FAILURE = fc
  .record({
    kind: fc.constantFrom(...KINDS),
    retryAfterMs: fc.constantFrom(0, 0, 300, 5_000),
  })
  .map(({ kind, retryAfterMs }) => {
    const name = kind === 'refused' ? 'invalid_request' : 'upstream_broken';
    return new UpstreamFailure(kind, new Refusal(name, kind), { retryAfterMs });
  });

/** Failures are more likely than in practice. */
const ACT: fc.Arbitrary<Act> = fc.record({
  events: fc.constantFrom(0, 0, 1, 3),
  last: fc.oneof(FAILURE, FAILURE, fc.constant('end' as const)),
});

const UPSTREAM = fc.record({
  acts: fc.array(ACT, { minLength: 1, maxLength: 6 }),
  concurrencyMax: fc.integer({ min: 1, max: 3 }),
  priority: fc.integer({ min: 1, max: 2 }),
});

const isRetryable = ({ result }: Try) => result !== 'ok' && result !== 'refused';
const isFinalThere = ({ result }: Try) => result === 'slow' || result === 'denied';

it('repeats only what failed before its first event, a few times, and within the budget', async () => {
  let retried = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.record({ a: UPSTREAM, b: UPSTREAM, c: UPSTREAM }),
      fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 40 }),
      fc.integer(),
      async (upstreams, gapsMs, seed) => {
        const stage = createStage(upstreams, {
          share: SHARE,
          burstMax: BURST_MAX,
          random: createRandom(seed),
        });
        const results = [];
        for (const gapMs of gapsMs) {
          results.push(run(stage.infer));
          await pass(gapMs);
        }
        await pass(PATIENCE_MS);

        for (const result of results) {
          expect(result.end).toBeDefined();
          // All events that a client has come from one try.
          expect(new Set(result.events.map((event) => 'index' in event && event.index)).size).toBe(
            Math.min(result.events.length, 1),
          );
          if (result.end !== 'done') expect(errorOf(result)).toBeInstanceOf(Refusal);
        }
        expect(stage.ends).toHaveLength(gapsMs.length);
        for (const tries of stage.ends) {
          expect(tries.length).toBeLessThanOrEqual(3);
          expect(tries.slice(0, -1).every(isRetryable)).toBe(true);
          const left = tries.flatMap((t) => (isFinalThere(t) ? [t.upstream] : []));
          expect(new Set(left).size).toBe(left.length);
          retried += Math.max(0, tries.length - 1);
        }
        const tried = stage.ends.reduce((sum, tries) => sum + tries.length, 0);
        expect(stage.calls).toHaveLength(tried);
        expect(tried).toBeLessThanOrEqual((1 + SHARE) * gapsMs.length + BURST_MAX);
        expect(stage.router.readStates().map(({ inFlight }) => inFlight)).toEqual([0, 0, 0]);
        expect(stage.running.size).toBe(0);
        expect(vi.getTimerCount()).toBe(0);
      },
    ),
    { numRuns: 150 },
  );
  expect(retried).toBeGreaterThan(100);
});
