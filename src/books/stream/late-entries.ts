/**
 * How long a request may be settled after its hold ran out and the sweep charged it: as long as
 * Redis keeps the mark of what it was charged. `keep_marks` in `quota/scripts/lua/money.lua` has
 * the same time.
 */
export const LATE_WITHIN_MAX_MS = 3 * 3_600_000;

/** The clock of a new master may be behind that of the old one: new ids then lie below old ones. */
export const REREAD_MS = 120_000;

/** Between the clocks of the machines, and of one master and the next. */
export const CLOCK_DIFFERENCE_MAX_MS = 600_000;
