/** Time as a value that is passed in, so that tests own it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
}
