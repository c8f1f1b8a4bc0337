const STEP_BACK_MS = 400;
const STEP_AHEAD_MS = 5_000;

/**
 * How far the scripts' clock is ahead of the real one in each part of a run. It starts just before
 * the end of a month, jumps to just before the end of the next month, goes back a little, and then
 * ahead.
 */
export function planClock(seconds: number, nowMs: number): (share: number) => number {
  const lengthMs = seconds * 1_000;
  const date = new Date(nowMs);
  const monthsAheadMs = (months: number) =>
    Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months) - nowMs;
  const first = Math.round(monthsAheadMs(1) - 0.25 * lengthMs);
  const second = Math.round(monthsAheadMs(2) - 0.65 * lengthMs);
  return (share) => {
    if (share < 0.5) return first;
    if (share < 0.75) return second;
    return share < 0.85 ? second - STEP_BACK_MS : second + STEP_AHEAD_MS;
  };
}
