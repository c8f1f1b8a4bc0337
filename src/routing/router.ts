import { assert } from '../lib/assert.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { Candidate } from './choose-candidate.ts';
import { createDoubt } from './doubt.ts';
import { canEnter, findCandidate, type RouteGroups } from './find-candidate.ts';
import type { Outcome } from './health.ts';
import { createLatency } from './latency.ts';
import {
  createPause,
  createSharedUpstream,
  dropPause,
  readHealth,
  readRestMs,
  type SharedUpstream,
  setDown,
  type UpstreamHealth,
  type UpstreamLimits,
} from './shared-upstream.ts';

export interface ModelRoute {
  readonly upstream: string;
  readonly weight: number;
  /** 1 comes first. A route with a higher number is used if no route before it is ready. */
  readonly priority: number;
}

/** One place at one upstream. It counts as in flight until it is ended, once, on every way out. */
export interface Lease {
  readonly kind: 'lease';
  readonly upstream: string;
  noteFirstEvent(): void;
  /**
   * `retryAfterMs` is what an overloaded upstream asked for. `denied` says nothing about the
   * upstream: others are preferred to it for a while, for this model, if nobody was served lately.
   */
  end(outcome: Outcome | 'denied', retryAfterMs?: number): void;
}

export interface NoRoute {
  readonly kind: 'none';
  /**
   * `full`: a place will be free when a lease ends; `resting`: the upstreams that are left must not
   * be called now; `excluded`: there is no other upstream.
   */
  readonly why: 'full' | 'resting' | 'excluded';
  readonly retryAfterMs: number;
}

export interface UpstreamState {
  readonly name: string;
  readonly health: UpstreamHealth;
  readonly restMs: number;
  readonly inFlight: number;
  readonly concurrencyMax: number;
}

export interface Router {
  choose(model: string, exclude: ReadonlySet<string>): Lease | NoRoute;
  /**
   * Takes other routes for all further choices. What is known of a route that stays is kept. A
   * model that is gone keeps its routes for a while: requests that were admitted before may still
   * need them.
   */
  changeRoutes(routes: RoutesByModel): void;
  /** Sets all upstreams that are down. All others are not down. */
  setDown(names: ReadonlySet<string>): void;
  /**
   * Calls the listener from now on whenever a lease has its first event or ends, because another
   * request may get a place then.
   */
  onChange(listener: () => void): void;
  readStates(): readonly UpstreamState[];
}

export type RoutesByModel = ReadonlyMap<string, readonly ModelRoute[]>;

interface RouterOptions {
  readonly routes: RoutesByModel;
  readonly upstreams: readonly UpstreamLimits[];
  readonly clock: Clock;
  /** Numbers from 0 up to 1. */
  readonly random: () => number;
}

/**
 * A guess, because nobody knows when a request ends or a probe is answered. With jitter, so that
 * clients do not return in step.
 */
const RETRY_AFTER_GUESS_MS = 3_000;

/** How many removed models keep their routes. */
const GONE_MODELS_MAX = 256;

export function createRouter({ routes, upstreams, clock, random }: RouterOptions): Router {
  const sharedByName = new Map(
    upstreams.map((limits) => [limits.name, createSharedUpstream(limits, { clock, random })]),
  );
  const byModel = new Map<string, RouteGroups>();
  const watch: Watch = { clock, onChange: () => {} };
  const changeRoutes = (next: RoutesByModel) => {
    for (const [model, all] of next) {
      const before = byModel.get(model) ?? [];
      const groups = groupRoutes(all, sharedByName, { clock, before });
      dropCandidates(before, groups);
      // What is set again goes to the end, so the models that were removed first come first.
      byModel.delete(model);
      byModel.set(model, groups);
    }
    for (const [model, groups] of byModel) {
      if (byModel.size <= next.size + GONE_MODELS_MAX) break;
      dropCandidates(groups, []);
      byModel.delete(model);
    }
  };
  changeRoutes(routes);

  return {
    choose(model, exclude) {
      const groups = byModel.get(model) ?? [];
      const candidate = findCandidate(groups, exclude, random);
      return candidate === undefined
        ? explainNone(groups, exclude, random)
        : new OpenLease(candidate, watch);
    },
    changeRoutes,
    setDown(names) {
      for (const each of sharedByName.values()) setDown(each, names.has(each.name));
    },
    onChange(listener) {
      watch.onChange = listener;
    },
    readStates: () =>
      [...sharedByName.values()].map((each) => {
        const { name, inFlight, concurrencyMax } = each;
        const [health, restMs] = [readHealth(each), readRestMs(each)];
        return { name, health, restMs, inFlight, concurrencyMax };
      }),
  };
}

function groupRoutes(
  routes: readonly ModelRoute[],
  sharedByName: ReadonlyMap<string, SharedUpstream>,
  { clock, before }: { readonly clock: Clock; readonly before: RouteGroups },
): RouteGroups {
  const known = new Map(before.flat().map((candidate) => [candidate.shared.name, candidate]));
  const priorities = [...new Set(routes.map(({ priority }) => priority))].sort((a, b) => a - b);
  return priorities.map((priority) => {
    const group = routes.filter((route) => route.priority === priority);
    const averageWeight = group.reduce((sum, { weight }) => sum + weight, 0) / group.length;
    return group.map(({ upstream, weight }) => {
      const shared = sharedByName.get(upstream);
      assert(shared !== undefined, `a route leads to ${upstream}, which is no upstream`);
      const relativeWeight = weight / averageWeight;
      const latency = known.get(upstream)?.latency ?? createLatency(clock);
      const pause = known.get(upstream)?.pause ?? createPause(shared, clock);
      const doubt = known.get(upstream)?.doubt ?? createDoubt(clock);
      return { shared, weight, relativeWeight, latency, pause, doubt };
    });
  });
}

/** A pause that nobody will ask about must not count for its upstream. */
function dropCandidates(before: RouteGroups, after: RouteGroups): void {
  const kept = new Set(after.flat().map(({ pause }) => pause));
  for (const { shared, pause } of before.flat()) if (!kept.has(pause)) dropPause(shared, pause);
}

/** What all leases of a router share. */
interface Watch {
  readonly clock: Clock;
  onChange: () => void;
}

class OpenLease implements Lease {
  readonly kind = 'lease';
  readonly upstream: string;
  readonly #candidate: Candidate;
  readonly #watch: Watch;
  readonly #startedMs: number;
  readonly #pass: ReturnType<Candidate['shared']['health']['enter']>;
  #hasAnswered = false;
  #hasEnded = false;

  constructor(candidate: Candidate, watch: Watch) {
    const { shared, pause } = candidate;
    this.upstream = shared.name;
    this.#candidate = candidate;
    this.#watch = watch;
    this.#startedMs = watch.clock.nowMs();
    this.#pass = shared.health.enter(pause);
    shared.inFlight += 1;
  }

  noteFirstEvent(): void {
    if (this.#hasAnswered || this.#hasEnded) return;
    this.#hasAnswered = true;
    const { latency, shared, doubt } = this.#candidate;
    doubt.noteServed();
    latency.note(this.#watch.clock.nowMs() - this.#startedMs);
    shared.health.noteFirstEvent(this.#pass);
    this.#watch.onChange();
  }

  end(outcome: Outcome | 'denied', retryAfterMs?: number): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { latency, shared, doubt } = this.#candidate;
    shared.inFlight -= 1;
    if (outcome === 'ignored' && !this.#hasAnswered) {
      latency.noteAtLeast(this.#watch.clock.nowMs() - this.#startedMs);
    }
    if (outcome === 'denied') doubt.noteDenied();
    shared.health.leave(this.#pass, outcome === 'denied' ? 'ignored' : outcome, retryAfterMs);
    this.#watch.onChange();
  }
}

function explainNone(
  groups: RouteGroups,
  exclude: ReadonlySet<string>,
  random: () => number,
): NoRoute {
  const left = groups.flat().filter(({ shared }) => !exclude.has(shared.name));
  const guessMs = RETRY_AFTER_GUESS_MS * random();
  if (left.length === 0) return { kind: 'none', why: 'excluded', retryAfterMs: guessMs };
  if (left.some(canEnter)) {
    return { kind: 'none', why: 'full', retryAfterMs: guessMs };
  }
  const up = left.filter(({ shared }) => !shared.isDown);
  const restMs = Math.min(
    ...up.map(({ shared, pause }) => Math.max(shared.health.restMs(), pause.leftMs())),
  );
  const isKnown = restMs > 0 && Number.isFinite(restMs);
  return { kind: 'none', why: 'resting', retryAfterMs: isKnown ? restMs : guessMs };
}
