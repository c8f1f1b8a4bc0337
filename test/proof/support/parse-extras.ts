/** What a request counts in lists of limits, as its hold has it. */
export interface HoldExtras {
  /** The moment that its windows count from. */
  readonly at: number;
  readonly groupId: string;
  readonly userId: string;
  readonly input: number;
  readonly output: number;
  readonly isSoft: boolean;
}

/** Undefined if it counts in none: then there is no moment, and perhaps a group. */
export function parseExtras(text: string): HoldExtras | undefined {
  if (!/^\d/.test(text)) return undefined;
  const [at, groupId = '', userId = '', input, output, soft] = text.split(',');
  const [atMs, inputHeld, outputHeld] = [at, input, output].map(Number) as [number, number, number];
  return { at: atMs, groupId, userId, input: inputHeld, output: outputHeld, isSoft: soft === '1' };
}
