import type { Clock } from '../lib/time/clock.ts';

/** The clock of this machine. Processes and threads take it where they start, and hand it on. */
export const systemClock: Clock = { nowMs: () => Date.now() };
