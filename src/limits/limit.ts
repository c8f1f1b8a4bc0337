export const LIMIT_UNITS = [
  'requests',
  'tokens',
  'input_tokens',
  'output_tokens',
  'credits',
] as const;
export type LimitUnit = (typeof LIMIT_UNITS)[number];

/** Windows of the calendar, in UTC. A week begins on Monday. */
export const CALENDAR_WINDOWS = ['day', 'week', 'month'] as const;
export type CalendarWindow = (typeof CALENDAR_WINDOWS)[number];

/** A window that rolls is as long as this, in ms. */
export type LimitWindow = number | CalendarWindow;

export const LIMIT_ACTIONS = ['block', 'warn'] as const;
type LimitAction = (typeof LIMIT_ACTIONS)[number];

export const LIMITS_MAX = 16;
/**
 * For limits of requests that block in a rolling window: Redis keeps the time of each request.
 */
export const TIMED_REQUESTS_MAX = 1_000_000;
/** Nodes report to each other which lists they can hold; those that report none know no lists. */
export const LIMITS_FORMAT = 1;

export interface Limit {
  readonly unit: LimitUnit;
  readonly window: LimitWindow;
  /** Credits are in micro-credits. */
  readonly amount: number;
  readonly action: LimitAction;
}
