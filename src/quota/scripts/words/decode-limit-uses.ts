import type { RateInfo } from '../../../protocol/key-info.ts';
import type { LimitUse } from '../../../protocol/rates/limit-state.ts';
import { decodeMetLimit } from './decode-met-limit.ts';

const VALUES_OF_LIMIT = 7;

/** The limits that `describe_limits` adds to the reply of a script. */
export function decodeLimitUses(values: readonly unknown[]): LimitUse[] {
  const limits: LimitUse[] = [];
  for (let first = 0; first < values.length; first += VALUES_OF_LIMIT) {
    const [level, letter, window, amount, counted, held, resetMs] = values.slice(first);
    // A capital letter marks a limit that only warns.
    const unit = String(letter).toLowerCase();
    const met = decodeMetLimit(String(level), unit, String(window), Number(amount));
    limits.push({
      ...met,
      action: unit === letter ? 'block' : 'warn',
      usedAmount: Number(counted) - Number(held),
      heldAmount: Number(held),
      resetMs: Number(resetMs),
    });
  }
  return limits;
}

/** A limit of requests in the window of rates, from its limit, count and reset. */
export function decodeRate([limit, count, resetMs]: readonly unknown[]): RateInfo {
  const left = Math.max(0, Number(limit) - Number(count));
  return { limit: Number(limit), left, resetMs: Number(resetMs) };
}
