import type { PlanLimits } from '../../../src/protocol/admission.ts';
import type { Admitted, ProofEvent, RateRefused } from '../support/event-log.ts';
import type { ProofAccount } from '../support/world.ts';
import type { Report } from './violations.ts';

interface Limiter {
  readonly name: string;
  /** 0 means no limit. */
  readonly limit: number;
  /** The times at which requests were admitted, in order. */
  readonly times: number[];
}

interface Limiters {
  readonly key: Limiter;
  readonly account: Limiter;
}

/** Counts the times before `time`, and those equal to it if `isIncluded`. */
function countUntil(times: readonly number[], time: number, isIncluded: boolean): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const value = times[middle] ?? 0;
    if (value < time || (isIncluded && value === time)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How long the next request has to wait at `now` if `seen` requests have been admitted. */
function waitOf({ limit, times }: Limiter, seen: number, now: number, windowMs: number): number {
  if (limit === 0 || seen < limit) return 0;
  return Math.max(0, (times[seen - limit] ?? 0) + windowMs - now);
}

/** Two calls for one request take one place, at the time of the call that is executed first. */
function findAdmissions(events: readonly ProofEvent[]): Admitted[] {
  const first = new Map<string, Admitted>();
  for (const event of events) {
    if (event.type !== 'admitted') continue;
    const known = first.get(event.requestId);
    if (known === undefined || event.nowMs < known.nowMs) first.set(event.requestId, event);
  }
  return [...first.values()].sort((a, b) => a.nowMs - b.nowMs);
}

interface CheckOptions {
  readonly world: readonly ProofAccount[];
  readonly plans: PlanLimits;
  readonly windowMs: number;
  readonly report: Report;
}

/** I8: replays all admissions and refusals, and returns how many limiters were ever full. */
export function checkRates(events: readonly ProofEvent[], options: CheckOptions): number {
  const { world, plans, windowMs, report } = options;
  const limiters = new Map<string, Limiters>();
  for (const { accountId, plan, keys } of world) {
    const limit = requestsOf(plans, plan);
    const account = { name: accountId, limit, times: [] };
    for (const { keyId, rpm } of keys) {
      limiters.set(keyId, { key: { name: keyId, limit: rpm, times: [] }, account });
    }
  }
  const limitersOf = (keyId: string) => {
    const found = limiters.get(keyId);
    if (found === undefined) throw new Error(`${keyId} is no key`);
    return found;
  };
  const admissions = findAdmissions(events);
  for (const { keyId, nowMs } of admissions) {
    const { key, account } = limitersOf(keyId);
    key.times.push(nowMs);
    account.times.push(nowMs);
  }
  const all = new Set([...limiters.values()].flatMap(({ key, account }) => [key, account]));
  const full = [...all].filter((limiter) => isEverFull(limiter, windowMs, report));
  for (const admitted of admissions) {
    if (!admitted.isRepeated) checkLeft(admitted, limitersOf(admitted.keyId), windowMs, report);
  }
  for (const event of events) {
    if (event.type !== 'refused' || !('waitMs' in event)) continue;
    checkRefusal(event, limitersOf(event.keyId), windowMs, report);
  }
  return full.length;
}

function requestsOf(plans: PlanLimits, plan: string): number {
  const terms = plans[plan] ?? 0;
  return typeof terms === 'number' ? terms : terms.requests;
}

function isEverFull({ name, limit, times }: Limiter, windowMs: number, report: Report): boolean {
  if (limit === 0) return false;
  let most = 0;
  times.forEach((time, index) => {
    most = Math.max(most, index + 1 - countUntil(times, time - windowMs, true));
  });
  if (most > limit) report('I8', `${name} admitted ${most} of ${limit} in one window`);
  return most >= limit;
}

/** Admissions in the same millisecond may have come before or after this one. */
function checkLeft(admitted: Admitted, limiters: Limiters, windowMs: number, report: Report) {
  const { nowMs, left } = admitted;
  const leftAt = (limiter: Limiter, isIncluded: boolean) => {
    if (limiter.limit === 0) return Number.POSITIVE_INFINITY;
    const seen = countUntil(limiter.times, nowMs, isIncluded) + (isIncluded ? 0 : 1);
    return limiter.limit - (seen - countUntil(limiter.times, nowMs - windowMs, true));
  };
  const most = Math.min(leftAt(limiters.key, false), leftAt(limiters.account, false));
  const least = Math.min(leftAt(limiters.key, true), leftAt(limiters.account, true));
  if (left < least || left > most) {
    report('I10', `${left} left, not ${least} to ${most}: ${JSON.stringify(admitted)}`);
  }
}

/**
 * Checks that a limiter was full and that the wait ends at its first free millisecond. Another key
 * of the account may have been admitted in the same millisecond, before or after.
 */
function checkRefusal(refused: RateRefused, limiters: Limiters, windowMs: number, report: Report) {
  const { nowMs } = refused;
  const { key, account } = limiters;
  const keyWait = waitOf(key, countUntil(key.times, nowMs, true), nowMs, windowMs);
  const least = countUntil(account.times, nowMs, false);
  const most = countUntil(account.times, nowMs, true);
  for (let seen = most; seen >= least; seen--) {
    const accountWait = waitOf(account, seen, nowMs, windowMs);
    const isKey = keyWait >= accountWait;
    const limit = isKey ? key.limit : account.limit;
    const isSame =
      refused.waitMs === Math.max(keyWait, accountWait) &&
      refused.waitMs > 0 &&
      refused.scope === (isKey ? 'key' : 'account') &&
      refused.limit === limit;
    if (isSame) return;
  }
  report('I8', `not to be refused like this: ${JSON.stringify({ refused, keyWait })}`);
}
