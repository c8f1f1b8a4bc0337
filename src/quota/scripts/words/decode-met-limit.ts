import { assert } from '../../../lib/assert.ts';
import { decodeUnit, decodeWindow } from '../../../limits/encode-limits.ts';
import type { LimitLevel, MetLimit } from '../../../protocol/rates/limit-state.ts';

/** A limit in the words of the scripts. */
export function decodeMetLimit(
  level: string,
  letter: string,
  window: string,
  amount: number,
): MetLimit {
  const unit = decodeUnit(letter);
  assert(unit !== undefined, `a script knows its units, not ${letter}`);
  return { level: level as LimitLevel, unit, window: decodeWindow(window), amount };
}
