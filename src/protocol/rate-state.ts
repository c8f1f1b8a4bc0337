/** How much of its rate limit a caller has left: of the key's or the account's, whichever is nearer. */
export interface RateState {
  /** The store's clock. */
  readonly nowMs: number;
  /** Requests per window. */
  readonly limit: number;
  readonly left: number;
  /** Until nothing counts against the limit any more. */
  readonly resetMs: number;
  readonly windowMs: number;
}
