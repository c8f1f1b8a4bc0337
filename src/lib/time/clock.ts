/** Time as a value that is passed in, so that tests control it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
}
