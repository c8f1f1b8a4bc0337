/** What refusals can be counted by. */
export const REFUSAL_GROUPS = ['refusal', 'account', 'key', 'hour', 'day', 'minute'] as const;
export type RefusalGroup = (typeof REFUSAL_GROUPS)[number];
