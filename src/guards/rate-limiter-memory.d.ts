/**
 * The package has types only for all its limiters together, and the module that loads them all
 * loads the limiters for databases too.
 */
declare module 'rate-limiter-flexible/lib/RateLimiterMemory.js' {
  import { RateLimiterMemory } from 'rate-limiter-flexible';

  export = RateLimiterMemory;
}
