import type { Usage } from '../protocol/inference.ts';
import { NO_USAGE } from '../protocol/native/answers/decode-usage.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { Price } from './catalogue.ts';
import { boundFiles, type FileBounds, type FileCounts, findUnwantedFile } from './count-files.ts';
import type { TokenEstimate } from './estimate-tokens.ts';
import { microsOfPrice, microsOfSearches, PRICED_TOKENS, priceUsage } from './price-usage.ts';

/** An answer that may be of any length is not worth beginning with less. */
const ELASTIC_OUTPUT_TOKENS_MIN = 256;

/** What a request's input can be at most, as far as an estimate can tell. */
export interface InputBound {
  readonly tokensMax: number;
  readonly cacheWrite: TokenEstimate['cacheWrite'];
  readonly searchesMax: number;
}

interface ReadBounds {
  readonly files: FileBounds;
  /** Of the model, for what is read at once. */
  readonly windowTokens: number;
  readonly searchesMax: number;
}

/** Throws where there is a file that has no bound. */
export function boundInput(estimate: TokenEstimate, bounds: ReadBounds): InputBound {
  const { searchesMax, windowTokens } = bounds;
  const { likely, unsure, files, cacheWrite } = estimate;
  const fileTokensMax = files === undefined ? 0 : boundAskedFiles(files, bounds);
  const tokensMax =
    searchesMax === 0
      ? likely + unsure + fileTokensMax
      : boundSearchedInput(searchesMax, windowTokens);
  return { tokensMax, cacheWrite, searchesMax };
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
 * The model runs once more behind each search, and reads all that was said and found before, which nobody knows yet:
 * each run can fill its window.
 */
export function boundSearchedInput(searchesMax: number, windowTokens: number): number {
  return (searchesMax + 1) * windowTokens;
}

interface HoldRequest {
  readonly input: InputBound;
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
  const { input, outputTokensMax, isElastic, price } = request;
  const holdMicros = priceHold(input, outputTokensMax, price);
  if (!isElastic) return { holdMicros, holdLeastMicros: holdMicros };
  const outputTokensMin = Math.min(ELASTIC_OUTPUT_TOKENS_MIN, outputTokensMax);
  return { holdMicros, holdLeastMicros: priceHold(input, outputTokensMin, price) };
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

interface OutputBudget {
  readonly input: InputBound;
  readonly heldMicros: number;
  readonly price: Price;
}

/** The longest answer whose hold is not above what is held; 0 as well when not even the input is covered. */
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

/** Any of the input may be written to the cache; a request that asks for an hour may ask for 5 minutes too. */
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
