import type { Limit } from '../../limits/limit.ts';

export const LIMIT_LEVELS = ['key', 'user', 'group', 'account'] as const;
export type LimitLevel = (typeof LIMIT_LEVELS)[number];

/** A limit of a list that a request meets. */
export interface MetLimit extends Pick<Limit, 'unit' | 'window' | 'amount'> {
  readonly level: LimitLevel;
}

export interface LimitState extends MetLimit {
  readonly left: number;
  /** In how many ms nothing will count any more. */
  readonly resetMs: number;
}

/** What a limit of a list has counted. */
export interface LimitUse extends MetLimit, Pick<Limit, 'action'> {
  readonly usedAmount: number;
  /** What running requests hold; 0 for requests in a window that rolls. */
  readonly heldAmount: number;
  /** In how many ms nothing will count any more. */
  readonly resetMs: number;
}
