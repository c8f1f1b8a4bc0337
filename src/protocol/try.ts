/** The result of one call of one upstream. */
export interface Try {
  readonly upstream: string;
  /**
   * `oversize`: the answer was larger than anything that is read; `left`: the client left; `fault`:
   * an error in the gateway; the upstream causes all others.
   */
  readonly result: TryResult;
  /** What went wrong, if that is known in more than a word. */
  readonly reason?: string | undefined;
}

export const TRY_RESULTS = [
  'ok',
  'refused',
  'overloaded',
  'broken',
  'unreachable',
  'denied',
  'slow',
  'oversize',
  'left',
  'fault',
] as const;
export type TryResult = (typeof TRY_RESULTS)[number];
