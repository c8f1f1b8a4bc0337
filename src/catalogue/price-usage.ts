import { MICROS_PER_CREDIT, parseCredits } from '../lib/units/micros.ts';
import type { Usage } from '../protocol/inference.ts';
import type { Price } from './catalogue.ts';

/** Prices are for this many tokens. */
export const PRICED_TOKENS = 1_000_000;
const PRICED_SEARCHES = 1_000;

/** Micro-credits for a million tokens or a million searches. */
interface PriceMicros extends Price {
  readonly webSearch: number;
}

/** Computed once for each price, because reading credits exactly takes several divisions. */
const knownMicros = new WeakMap<Price, PriceMicros>();

/**
 * Returns the exact price of a usage in micro-credits, rounded up once. Thinking is part of the
 * output.
 */
export function priceUsage(usage: Usage, price: Price): number {
  const micros = microsOf(price);
  const total =
    usage.input * micros.input +
    usage.cacheRead * micros.cacheRead +
    usage.cacheWrite5m * micros.cacheWrite5m +
    usage.cacheWrite1h * micros.cacheWrite1h +
    usage.output * micros.output +
    usage.searches * micros.webSearch;
  // No part is negative, so if the sum is exact, every part is exact.
  if (total > Number.MAX_SAFE_INTEGER) return priceLargeUsage(usage, micros);
  const rest = total % PRICED_TOKENS;
  return (total - rest) / PRICED_TOKENS + (rest > 0 ? 1 : 0);
}

/** Returns micro-credits for a million tokens, rounded up if the price is finer. */
export function microsOfPrice(credits: number): number {
  return parseCredits(credits) ?? Math.ceil(credits * MICROS_PER_CREDIT);
}

/** Returns micro-credits for a million searches. */
export function microsOfSearches({ webSearch = 0 }: Price): number {
  return microsOfPrice(webSearch) * (PRICED_TOKENS / PRICED_SEARCHES);
}

function microsOf(price: Price): PriceMicros {
  const known = knownMicros.get(price);
  if (known !== undefined) return known;
  const micros = {
    input: microsOfPrice(price.input),
    output: microsOfPrice(price.output),
    cacheRead: microsOfPrice(price.cacheRead),
    cacheWrite5m: microsOfPrice(price.cacheWrite5m),
    cacheWrite1h: microsOfPrice(price.cacheWrite1h),
    webSearch: microsOfSearches(price),
  };
  knownMicros.set(price, micros);
  return micros;
}

function priceLargeUsage(usage: Usage, micros: PriceMicros): number {
  const total =
    multiply(usage.input, micros.input) +
    multiply(usage.cacheRead, micros.cacheRead) +
    multiply(usage.cacheWrite5m, micros.cacheWrite5m) +
    multiply(usage.cacheWrite1h, micros.cacheWrite1h) +
    multiply(usage.output, micros.output) +
    multiply(usage.searches, micros.webSearch);
  const pricedTokens = BigInt(PRICED_TOKENS);
  return Number((total + pricedTokens - 1n) / pricedTokens);
}

function multiply(count: number, micros: number): bigint {
  return BigInt(count) * BigInt(micros);
}
