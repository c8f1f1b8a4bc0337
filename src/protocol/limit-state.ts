import type { Limit } from '../limits/limit.ts';

export type LimitLevel = 'key' | 'user' | 'group' | 'account';

/** A limit of a list that a request meets. */
export interface MetLimit extends Pick<Limit, 'unit' | 'window' | 'amount'> {
  readonly level: LimitLevel;
}

export interface LimitState extends MetLimit {
  readonly left: number;
  /** In how many ms nothing will count any more. */
  readonly resetMs: number;
}
