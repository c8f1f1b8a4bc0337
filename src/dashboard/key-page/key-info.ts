import type { ListedLimit } from '../parts/limits/explain-limit.ts';

interface Rate {
  readonly limit: number;
  readonly remaining: number;
  readonly reset_at: string;
}

/** The answer of `GET /v1/key`; null means no limit. */
export interface KeyInfo {
  readonly id: string;
  readonly key: string;
  readonly expires_at: string | null;
  readonly rate_window_seconds: number;
  readonly rate: Rate | null;
  readonly concurrency: number | null;
  readonly in_flight: number;
  readonly month: string;
  readonly monthly_cap: number | null;
  readonly spent_this_month: number;
  readonly held: number;
  readonly account: {
    readonly id: string;
    readonly balance: number;
    readonly held: number;
    readonly rate: Rate;
  };
  readonly limits: readonly ListedLimit[];
}
