/**
 * The events that limits and balances raise, at most once in each window. `events.left_out` says
 * that an account raised too many in an hour, and that the rest is left out.
 */
export const LIMIT_EVENT_TYPES = [
  'limit.warning',
  'limit.reached',
  'balance.low',
  'balance.exhausted',
  'events.left_out',
] as const;
export type LimitEventType = (typeof LIMIT_EVENT_TYPES)[number];
