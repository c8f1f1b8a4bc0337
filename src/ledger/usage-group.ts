export const USAGE_GROUPS = ['day', 'model', 'key'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];
