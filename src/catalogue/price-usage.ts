import { MICROS_PER_CREDIT, parseCredits } from '../lib/micros.ts';
import type { Usage } from '../protocol/inference.ts';
import type { Price } from './resolve-model.ts';

/** Prices are for so many tokens. */
export const PRICED_TOKENS = 1_000_000;

/** What a usage costs in micro-credits, exactly, rounded up once. Thinking is part of the output. */
export function priceUsage(usage: Usage, price: Price): number {
  const total =
    usage.input * microsOfPrice(price.input) +
    usage.cacheRead * microsOfPrice(price.cacheRead) +
    usage.cacheWrite5m * microsOfPrice(price.cacheWrite5m) +
    usage.cacheWrite1h * microsOfPrice(price.cacheWrite1h) +
    usage.output * microsOfPrice(price.output);
  // No part is negative: where the sum is exact, so is every part of it.
  if (total > Number.MAX_SAFE_INTEGER) return priceLargeUsage(usage, price);
  const rest = total % PRICED_TOKENS;
  return (total - rest) / PRICED_TOKENS + (rest > 0 ? 1 : 0);
}

/** Micro-credits for a million tokens; a price too fine for that is rounded up. */
export function microsOfPrice(credits: number): number {
  return parseCredits(credits) ?? Math.ceil(credits * MICROS_PER_CREDIT);
}

function priceLargeUsage(usage: Usage, price: Price): number {
  const total =
    multiply(usage.input, price.input) +
    multiply(usage.cacheRead, price.cacheRead) +
    multiply(usage.cacheWrite5m, price.cacheWrite5m) +
    multiply(usage.cacheWrite1h, price.cacheWrite1h) +
    multiply(usage.output, price.output);
  const pricedTokens = BigInt(PRICED_TOKENS);
  return Number((total + pricedTokens - 1n) / pricedTokens);
}

function multiply(tokens: number, credits: number): bigint {
  return BigInt(tokens) * BigInt(microsOfPrice(credits));
}
