/** Upper bounds of the buckets of histograms, in seconds. */

/** From below a millisecond, where the gateway's own work lies, up to a second. */
export const FAST = [
  50e-6, 100e-6, 200e-6, 300e-6, 500e-6, 750e-6, 1e-3, 2e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25,
  0.5, 1,
];
/** Redis, near or far, up to the time at which requests stop waiting. */
export const STORE = [
  100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2,
];
/** Models: from a cached word to a long answer. */
export const SLOW = [
  5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
];
export const LAG = [1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5, 5];
export const PROPAGATION = [1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
