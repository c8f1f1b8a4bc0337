import type { Usage } from '../protocol/inference.ts';
import { NO_USAGE } from '../protocol/native/decode-usage.ts';
import type { TokenEstimate } from './estimate-tokens.ts';
import { microsOfPrice, PRICED_TOKENS, priceUsage } from './price-usage.ts';
import type { Price } from './resolve-model.ts';

/** An answer that may be of any length is not worth beginning with less. */
const ELASTIC_OUTPUT_TOKENS_MIN = 256;

interface HoldRequest {
  readonly estimate: TokenEstimate;
  readonly outputTokensMax: number;
  /** The client named no maximum: the answer may be cut to what can be paid. */
  readonly isElastic: boolean;
  readonly price: Price;
}

export interface HoldEstimate {
  readonly holdMicros: number;
  /** With less than this the request is refused. */
  readonly holdLeastMicros: number;
}

/** What a request can cost at most, as far as an estimate can tell. */
export function estimateHold(request: HoldRequest): HoldEstimate {
  const { estimate, outputTokensMax, isElastic, price } = request;
  const holdMicros = priceHold(estimate, outputTokensMax, price);
  if (!isElastic) return { holdMicros, holdLeastMicros: holdMicros };
  const outputTokensMin = Math.min(ELASTIC_OUTPUT_TOKENS_MIN, outputTokensMax);
  return { holdMicros, holdLeastMicros: priceHold(estimate, outputTokensMin, price) };
}

/** The input of a request that nobody has counted, at the price for which it is held. */
export function estimateInput(estimate: TokenEstimate, price: Price): Usage {
  const { likely, cacheWrite } = estimate;
  const dearest = dearestInputPrice(estimate, price);
  if (cacheWrite === undefined || dearest === price.input) return { ...NO_USAGE, input: likely };
  return dearest === price.cacheWrite5m
    ? { ...NO_USAGE, cacheWrite5m: likely }
    : { ...NO_USAGE, cacheWrite1h: likely };
}

interface HeldRequest {
  readonly estimate: TokenEstimate;
  readonly heldMicros: number;
  readonly price: Price;
}

/** The longest answer whose hold is not above what is held; 0 as well when not even the input is covered. */
export function affordableOutputTokens({ estimate, heldMicros, price }: HeldRequest): number {
  const outputMicros = BigInt(microsOfPrice(price.output));
  const inputMicros = BigInt(microsOfPrice(dearestInputPrice(estimate, price)));
  const left = BigInt(heldMicros) * BigInt(PRICED_TOKENS) - BigInt(estimate.likely) * inputMicros;
  if (left < 0n) return 0;
  if (outputMicros === 0n) return Number.MAX_SAFE_INTEGER;
  return Math.min(Number(left / outputMicros), Number.MAX_SAFE_INTEGER);
}

function priceHold(estimate: TokenEstimate, outputTokens: number, price: Price): number {
  const usage = { ...NO_USAGE, input: estimate.likely, output: outputTokens };
  const input = dearestInputPrice(estimate, price);
  return priceUsage(usage, input === price.input ? price : { ...price, input });
}

/** Any of the input may be written to the cache; a request that asks for an hour may ask for 5 minutes too. */
function dearestInputPrice({ cacheWrite }: TokenEstimate, price: Price): number {
  switch (cacheWrite) {
    case undefined:
      return price.input;
    case '5m':
      return Math.max(price.input, price.cacheWrite5m);
    case '1h':
      return Math.max(price.input, price.cacheWrite5m, price.cacheWrite1h);
  }
}
