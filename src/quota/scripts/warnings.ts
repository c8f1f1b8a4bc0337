/** From what point on customers and operators are warned, before anything is refused. */
export interface Warnings {
  /** The share of a limit that blocks, or of a monthly cap, from which it warns. */
  readonly atShare: number;
  /**
   * The balance below which it is low, if the account has no threshold of its own. 0 for none.
   */
  readonly lowBalanceMicros: number;
}
