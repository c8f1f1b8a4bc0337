import type { Doubt } from './doubt.ts';
import type { Latency } from './latency.ts';
import type { Rest } from './rest.ts';
import type { SharedUpstream } from './shared-upstream.ts';

/** An upstream as one model sees it. */
export interface Candidate {
  readonly shared: SharedUpstream;
  readonly weight: number;
  /** The weight in relation to the average of its group. */
  readonly relativeWeight: number;
  readonly latency: Latency;
  /** A pause that the upstream asked for, for this model. */
  readonly pause: Rest;
  /** While there is one, the upstream is asked for this model only if no other can be. */
  readonly doubt: Doubt;
}

/** A smaller lead is noise: then the weights decide. */
const LEAD_MIN = 1.25;

/**
 * Picks two by weight, of which the less loaded one wins. That is nearly as good as comparing
 * all, and does not send every request to the same upstream. All must be of equal priority and
 * ready to be called.
 */
export function chooseCandidate(
  candidates: readonly [Candidate, ...Candidate[]],
  random: () => number,
): Candidate {
  if (candidates.length === 1) return candidates[0];
  const first = pickByWeight(candidates, random);
  const second = pickByWeight(
    candidates.filter((candidate) => candidate !== first),
    random,
  );
  if (first === undefined) return candidates[0];
  return second !== undefined && leads(second, first) ? second : first;
}

function pickByWeight(
  candidates: readonly Candidate[],
  random: () => number,
): Candidate | undefined {
  let left = 0;
  for (const { weight } of candidates) left += weight;
  left *= random();
  for (const candidate of candidates) {
    left -= candidate.weight;
    if (left < 0) return candidate;
  }
  return candidates[0];
}

function leads(one: Candidate, other: Candidate): boolean {
  // A candidate without samples is taken to be as fast as the other one.
  const oneMs = one.latency.averageMs ?? other.latency.averageMs ?? 1;
  const baseMs = Math.min(oneMs, other.latency.averageMs ?? oneMs);
  return loadOf(one, baseMs) * LEAD_MIN <= loadOf(other, baseMs);
}

/**
 * Without the 1, idle upstreams would all be equal, however slow. If the weight divided the 1 as
 * well, the heaviest would get everything.
 */
function loadOf({ shared, relativeWeight, latency }: Candidate, baseMs: number): number {
  return (shared.inFlight / relativeWeight + 1) * latency.fadeTo(baseMs);
}
