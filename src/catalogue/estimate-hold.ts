import type { TokenDemand } from '../protocol/admission.ts';
import { NO_USAGE } from '../protocol/answers/no-usage.ts';
import type { Usage } from '../protocol/inference.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { Price } from './catalogue.ts';
import { boundFiles, type FileBounds, type FileCounts, findUnwantedFile } from './count-files.ts';
import type { TokenEstimate } from './estimate-tokens.ts';
import { microsOfPrice, microsOfSearches, PRICED_TOKENS, priceUsage } from './price-usage.ts';

/** An answer without a requested length is not worth starting with fewer tokens. */
const ELASTIC_OUTPUT_TOKENS_MIN = 256;

/** The most that a request's input can be, as far as an estimate can tell. */
export interface InputBound {
  readonly tokensMax: number;
  /** What limits of tokens hold of it, if less than all. */
  readonly limitedTokens?: number | undefined;
  readonly cacheWrite: TokenEstimate['cacheWrite'];
  readonly searchesMax: number;
}

export interface BodyBound extends InputBound {
  /** An upstream that reports more than this reports what was never sent. */
  readonly reportedTokensMax: number;
}

interface ReadBounds {
  readonly files: FileBounds;
  /** The model's window: the most that one run can read. */
  readonly windowTokens: number;
  readonly searchesMax: number;
}

/** Throws if the request has a file without a bound. */
export function boundInput(estimate: TokenEstimate, bounds: ReadBounds): BodyBound {
  const { searchesMax, windowTokens } = bounds;
  const { likely, most, unsure, files, cacheWrite } = estimate;
  const fileTokensMax = files === undefined ? 0 : boundAskedFiles(files, bounds);
  const searchedTokensMax = boundSearchedInput(searchesMax, windowTokens);
  const askedTokensMax = likely + unsure + fileTokensMax;
  const tokensMax =
    searchesMax === 0 ? askedTokensMax : Math.max(searchedTokensMax, askedTokensMax);
  // The window of the settings may be smaller than that of the vendor.
  const reportedTokensMax = Math.max(searchedTokensMax, most + fileTokensMax);
  const { limited: limitedTokens } = estimate;
  return { tokensMax, reportedTokensMax, limitedTokens, cacheWrite, searchesMax };
}

function boundAskedFiles(files: FileCounts, bounds: ReadBounds): number {
  const unwanted = findUnwantedFile(files, bounds.files);
  if (unwanted !== undefined) {
    throw new Refusal('invalid_request', `messages: this gateway does not take ${unwanted}`, {
      param: 'messages',
    });
  }
  return boundFiles(files, bounds.files, bounds.windowTokens);
}

/**
 * The model runs once more after each search. It then reads everything that was said and found
 * before, whose length nobody knows in advance, so each run can fill the window.
 */
export function boundSearchedInput(searchesMax: number, windowTokens: number): number {
  return (searchesMax + 1) * windowTokens;
}

interface HoldRequest {
  readonly input: InputBound;
  readonly outputTokensMax: number;
  /** Whether the client named no maximum: the answer may then be cut to what the client can pay. */
  readonly isElastic: boolean;
  readonly price: Price;
}

export interface HoldEstimate {
  readonly holdMicros: number;
  /** With less than this free, the request is refused. */
  readonly holdLeastMicros: number;
}

/** Returns the most that a request can cost, as far as an estimate can tell. */
export function estimateHold(request: HoldRequest): HoldEstimate {
  const { input, outputTokensMax, isElastic, price } = request;
  const holdMicros = priceHold(input, outputTokensMax, price);
  if (!isElastic) return { holdMicros, holdLeastMicros: holdMicros };
  const outputTokensMin = Math.min(ELASTIC_OUTPUT_TOKENS_MIN, outputTokensMax);
  return { holdMicros, holdLeastMicros: priceHold(input, outputTokensMin, price) };
}

/** The estimated input of a request whose tokens nobody counted, at the price of its hold. */
export function estimateInput(estimate: TokenEstimate, price: Price): Usage {
  const { likely, cacheWrite } = estimate;
  const dearest = dearestInputPrice(estimate, price);
  if (cacheWrite === undefined || dearest === price.input) return { ...NO_USAGE, input: likely };
  return dearest === price.cacheWrite5m
    ? { ...NO_USAGE, cacheWrite5m: likely }
    : { ...NO_USAGE, cacheWrite1h: likely };
}

/** Returns the most tokens that a request can use, as far as an estimate can tell. */
export function estimateDemand(
  { input, outputTokensMax, isElastic }: Omit<HoldRequest, 'price'>,
  outputHeldMax: number | undefined,
): TokenDemand {
  const output = Math.min(outputTokensMax, outputHeldMax ?? outputTokensMax);
  const outputLeast = isElastic ? Math.min(ELASTIC_OUTPUT_TOKENS_MIN, output) : output;
  return {
    input: input.limitedTokens ?? input.tokensMax,
    output,
    outputLeast,
    isOutputOpen: output < outputTokensMax,
  };
}

interface OutputBudget {
  readonly input: InputBound;
  readonly heldMicros: number;
  readonly price: Price;
}

/**
 * Returns the longest answer that what is held can pay; 0 also if not even the input is covered.
 */
export function affordableOutputTokens({ input, heldMicros, price }: OutputBudget): number {
  const outputMicros = BigInt(microsOfPrice(price.output));
  const inputMicros = BigInt(microsOfPrice(dearestInputPrice(input, price)));
  const searchMicros = BigInt(microsOfSearches(price));
  const left =
    BigInt(heldMicros) * BigInt(PRICED_TOKENS) -
    BigInt(input.tokensMax) * inputMicros -
    BigInt(input.searchesMax) * searchMicros;
  if (left < 0n) return 0;
  if (outputMicros === 0n) return Number.MAX_SAFE_INTEGER;
  return Math.min(Number(left / outputMicros), Number.MAX_SAFE_INTEGER);
}

function priceHold(input: InputBound, outputTokens: number, price: Price): number {
  const { tokensMax, searchesMax } = input;
  const usage = { ...NO_USAGE, input: tokensMax, output: outputTokens, searches: searchesMax };
  const dearest = dearestInputPrice(input, price);
  return priceUsage(usage, dearest === price.input ? price : { ...price, input: dearest });
}

/**
 * Any part of the input may be written to the cache. A request that asks for an hour may also ask
 * for 5 minutes.
 */
function dearestInputPrice({ cacheWrite }: Pick<InputBound, 'cacheWrite'>, price: Price): number {
  switch (cacheWrite) {
    case undefined:
      return price.input;
    case '5m':
      return Math.max(price.input, price.cacheWrite5m);
    case '1h':
      return Math.max(price.input, price.cacheWrite5m, price.cacheWrite1h);
  }
}
