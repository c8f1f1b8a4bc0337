import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Outcome } from '../../../src/routing/health.ts';
import type { Lease, Router, UpstreamState } from '../../../src/routing/router.ts';
import { createRandom } from '../../../src/upstream/simulated/random.ts';
import { createTestRouter, MODEL } from './routing-support.ts';

const NAMES = ['a', 'b', 'c', 'd'] as const;

const ROUTES = fc.tuple(
  ...NAMES.map((upstream) =>
    fc.record({
      upstream: fc.constant(upstream),
      weight: fc.integer({ min: 1, max: 10 }),
      priority: fc.integer({ min: 1, max: 2 }),
      concurrencyMax: fc.integer({ min: 1, max: 5 }),
    }),
  ),
);
interface TestRoute {
  readonly upstream: string;
  readonly weight: number;
  readonly priority: number;
  readonly concurrencyMax: number;
}

const STEP = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('choose' as const),
      exclude: fc.oneof(fc.constant([]), fc.subarray([...NAMES])),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constantFrom('event' as const, 'end' as const, 'end twice' as const),
      index: fc.nat(),
      outcome: fc.constantFrom<Outcome[]>('ok', 'failed', 'failed', 'overloaded', 'ignored'),
      retryAfterMs: fc.constantFrom(0, 500, 40_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('wait' as const),
      ms: fc.integer({ min: -100, max: 5_000 }),
    }),
  },
);

type Step = typeof STEP extends fc.Arbitrary<infer Value> ? Value : never;

interface OpenLease {
  readonly lease: Lease;
  /** Of a probe that nothing has decided yet. */
  probedMs: number | undefined;
}

/** How long a probe keeps all others away. */
const PROBE_ALONE_MAX_MS = 2_000;

/** What the router should know, kept by the simplest means. */
interface Book {
  readonly router: Router;
  readonly time: { readonly nowMs: number };
  readonly routes: readonly TestRoute[];
  readonly open: OpenLease[];
  /** The last probe of each upstream. */
  readonly probes: Map<string, OpenLease>;
  chosen: number;
}

function findProbe({ open, probes }: Book, upstream: string): OpenLease | undefined {
  const probe = probes.get(upstream);
  return probe?.probedMs !== undefined && open.includes(probe) ? probe : undefined;
}

function isProbing(book: Book, upstream: string): boolean {
  const { probedMs } = findProbe(book, upstream) ?? {};
  if (probedMs === undefined) return false;
  const aloneMs = book.time.nowMs - probedMs;
  return aloneMs >= 0 && aloneMs < PROBE_ALONE_MAX_MS;
}

function findUsable(book: Book, exclude: readonly string[], states: StatesByName) {
  const { routes } = book;
  return routes.filter(({ upstream, concurrencyMax }) => {
    const state = states.get(upstream);
    return (
      !exclude.includes(upstream) &&
      state !== undefined &&
      state.inFlight < concurrencyMax &&
      state.restMs === 0 &&
      (state.health === 'closed' || (state.health === 'half-open' && !isProbing(book, upstream)))
    );
  });
}

type StatesByName = ReadonlyMap<string, UpstreamState>;

function choose(book: Book, exclude: readonly string[]): void {
  const states: StatesByName = new Map(book.router.readStates().map((each) => [each.name, each]));
  const usable = findUsable(book, exclude, states);
  const chosen = book.router.choose(MODEL, new Set(exclude));
  if (chosen.kind === 'none') {
    expect(usable).toEqual([]);
    expect(chosen.retryAfterMs).toBeGreaterThanOrEqual(0);
    expect(chosen.retryAfterMs).toBeLessThanOrEqual(30_000);
    return;
  }
  const route = usable.find(({ upstream }) => upstream === chosen.upstream);
  const unprobed = usable.filter(({ upstream }) => findProbe(book, upstream) === undefined);
  const preferred = unprobed.length > 0 ? unprobed : usable;
  const bestPriority = Math.min(...preferred.map(({ priority }) => priority));
  expect(route).toBeDefined();
  if (exclude.length === 0) expect(route?.priority).toBe(bestPriority);
  book.chosen += 1;
  const isProbe = states.get(chosen.upstream)?.health === 'half-open';
  const opened: OpenLease = { lease: chosen, probedMs: isProbe ? book.time.nowMs : undefined };
  book.open.push(opened);
  if (isProbe) book.probes.set(chosen.upstream, opened);
}

/** The first probe that learns anything decides for all of its upstream. */
function decideProbes({ open }: Book, { lease, probedMs }: OpenLease): void {
  if (probedMs === undefined) return;
  for (const each of open) if (each.lease.upstream === lease.upstream) each.probedMs = undefined;
}

function progress(book: Book, step: Extract<Step, { index: number }>): void {
  const { open } = book;
  const [picked] = open.splice(step.index % Math.max(1, open.length), 1);
  if (picked === undefined) return;
  if (step.type === 'event') {
    picked.lease.noteFirstEvent();
    decideProbes(book, picked);
    open.push({ ...picked, probedMs: undefined });
    return;
  }
  if (step.outcome !== 'ignored') decideProbes(book, picked);
  picked.lease.end(step.outcome, step.retryAfterMs);
  if (step.type === 'end twice') picked.lease.end('failed');
}

it('calls nobody who is full, resting, probed or excluded, and forgets no call', () => {
  let chosen = 0;
  fc.assert(
    fc.property(
      ROUTES,
      fc.array(STEP, { minLength: 50, maxLength: 200 }),
      fc.integer(),
      (routes, steps, seed) => {
        const { router, time } = createTestRouter(routes, createRandom(seed));
        const book: Book = { router, time, routes, open: [], probes: new Map(), chosen: 0 };
        for (const step of steps) {
          if (step.type === 'wait') time.nowMs += step.ms;
          else if (step.type === 'choose') choose(book, step.exclude);
          else progress(book, step);
          for (const { name, inFlight, concurrencyMax } of router.readStates()) {
            expect(inFlight).toBe(book.open.filter(({ lease }) => lease.upstream === name).length);
            expect(inFlight).toBeLessThanOrEqual(concurrencyMax);
          }
        }
        chosen += book.chosen;
      },
    ),
    { numRuns: 200 },
  );
  expect(chosen).toBeGreaterThan(1_000);
});
