/**
 * How much of its rate limit a caller has left. It describes the limit of the key or of the
 * account, whichever is nearer.
 */
export interface RateState {
  /** The time by the store's clock. */
  readonly nowMs: number;
  /** Requests per window. */
  readonly limit: number;
  readonly left: number;
  /** Milliseconds until no request counts against the limit any more. */
  readonly resetMs: number;
  readonly windowMs: number;
}
