import { parseCredits } from '../lib/units/micros.ts';
import { LIMIT_UNITS, type Limit, type LimitUnit } from './limit.ts';
import { parseWindow } from './parse-window.ts';

/**
 * Reads a limit such as `tokens=400000/1m` or `credits=2.5/day:warn`. Undefined if it is not one.
 */
export function parseLimit(text: string): Limit | undefined {
  const [, name = '', number = '', length = '', action = 'block'] =
    /^([a-z_]+)=(\d+(?:\.\d+)?)\/(\w+)(?::(block|warn))?$/.exec(text) ?? [];
  const unit = LIMIT_UNITS.find((each) => each === name);
  const window = parseWindow(length);
  if (unit === undefined || window === undefined) return undefined;
  const amount = parseLimitAmount(unit, Number(number));
  if (amount === undefined) return undefined;
  return { unit, window, amount, action: action === 'warn' ? 'warn' : 'block' };
}

/** Credits as micro-credits, all else as it is. Undefined if it is not an amount. */
export function parseLimitAmount(unit: LimitUnit, amount: number): number | undefined {
  const parsed = unit === 'credits' ? parseCredits(amount) : amount;
  return parsed !== undefined && Number.isSafeInteger(parsed) && parsed >= 0 ? parsed : undefined;
}
