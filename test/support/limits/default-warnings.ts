import type { Warnings } from '../../../src/quota/scripts/warnings.ts';

/** What `warnings` of the settings are unless they say otherwise. */
export const DEFAULT_WARNINGS: Warnings = { atShare: 0.8, lowBalanceMicros: 0 };
