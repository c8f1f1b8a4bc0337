import type { Usage } from '../inference.ts';

export function inputOf({ input, cacheRead, cacheWrite5m, cacheWrite1h }: Usage): number {
  return input + cacheRead + cacheWrite5m + cacheWrite1h;
}

/**
 * Returns the later usage unless it is smaller: usage only grows, so a smaller number is a mistake
 * or a lie. Input is compared as a whole, because an upstream may split it into its kinds only
 * later.
 */
export function raiseUsage(before: Usage, reported: Usage): Usage {
  const hasFallen = inputOf(reported) < inputOf(before);
  const isLess =
    reported.output < before.output ||
    reported.thinking < before.thinking ||
    reported.searches < before.searches;
  if (!hasFallen && !isLess) return reported;
  return {
    ...(hasFallen ? before : reported),
    output: Math.max(before.output, reported.output),
    thinking: Math.max(before.thinking, reported.thinking),
    searches: Math.max(before.searches, reported.searches),
  };
}

export function isSameUsage(one: Usage, other: Usage): boolean {
  return (
    one.input === other.input &&
    one.cacheRead === other.cacheRead &&
    one.cacheWrite5m === other.cacheWrite5m &&
    one.cacheWrite1h === other.cacheWrite1h &&
    one.output === other.output &&
    one.thinking === other.thinking &&
    one.searches === other.searches
  );
}
