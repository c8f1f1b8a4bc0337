import { formatCredits } from '../../lib/units/micros.ts';
import { MINUTE_MS } from '../../lib/units/time-units.ts';
import { encodeChatRate, type RateEncoder } from '../rates/encode-rate.ts';
import type { LimitState } from '../rates/limit-state.ts';
import type { RateState } from '../rates/rate-state.ts';

const DAY_MINUTES = 24 * 60;
/** The places that Codex has for limits. */
const PLACES = ['primary', 'secondary'] as const;

/**
 * Codex shows its user the two limits of lists that are used up most, and the credits that are
 * left. It knows no other headers.
 */
export const encodeResponsesRate: RateEncoder = (rate, limits, creditsMicros) => {
  const headers = encodeChatRate(rate, limits);
  return { ...headers, ...describeLimits(rate, limits), ...describeCredits(creditsMicros) };
};

function describeLimits(rate: RateState, limits: readonly LimitState[]) {
  if (limits.length === 0) return undefined;
  const nearest = limits.toSorted((one, other) => usedPercent(other) - usedPercent(one));
  const shown = PLACES.flatMap((place, index) => {
    const limit = nearest[index];
    return limit === undefined ? [] : describe(`x-codex-${place}`, limit, rate);
  });
  return Object.fromEntries(shown);
}

/** Codex reads the amount only beside both others, and shows it only if it is above zero. */
function describeCredits(micros: number | undefined) {
  if (micros === undefined) return undefined;
  return {
    'x-codex-credits-has-credits': String(micros > 0),
    'x-codex-credits-unlimited': 'false',
    'x-codex-credits-balance': formatCredits(Math.max(micros, 0)),
  };
}

function describe(name: string, limit: LimitState, { nowMs }: RateState) {
  return [
    [`${name}-used-percent`, String(usedPercent(limit))],
    [`${name}-window-minutes`, String(minutesOf(limit.window))],
    [`${name}-reset-at`, String(Math.ceil((nowMs + limit.resetMs) / 1_000))],
  ] as const;
}

function usedPercent({ amount, left }: LimitState): number {
  if (amount <= 0) return 100;
  const used = Math.min(Math.max(amount - left, 0), amount);
  return Math.round((used / amount) * 1_000) / 10;
}

/** A month has no fixed length; it is shown as one of 30 days. */
function minutesOf(window: LimitState['window']): number {
  if (typeof window === 'number') return Math.max(1, Math.round(window / MINUTE_MS));
  return { day: 1, week: 7, month: 30 }[window] * DAY_MINUTES;
}
