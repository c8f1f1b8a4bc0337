/**
 * What limits and balances tell, once in each window. An account that tells too much in an hour is
 * told as such, and the rest is left out.
 */
export const LIMIT_EVENT_TYPES = [
  'limit.warning',
  'limit.reached',
  'balance.low',
  'balance.exhausted',
  'events.left_out',
] as const;
export type LimitEventType = (typeof LIMIT_EVENT_TYPES)[number];
