/** What a worker did since it last told of it. */
export interface Activity {
  /** That have ended, refused ones as well. */
  readonly requests: number;
  readonly refused: number;
  readonly streams: number;
  readonly chargedMicros: number;
  /** Open now. */
  readonly open: number;
}
