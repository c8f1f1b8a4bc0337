import { boundOutput, contextWindowOf } from '../catalogue/bound-output.ts';
import { boundSearches } from '../catalogue/bound-searches.ts';
import type { Model } from '../catalogue/catalogue.ts';
import {
  type BodyBound,
  boundInput,
  estimateDemand,
  estimateHold,
  type HoldEstimate,
} from '../catalogue/estimate-hold.ts';
import { estimateTokens, type TokenEstimate } from '../catalogue/estimate-tokens.ts';
import type { TokenDemand } from '../protocol/admission.ts';
import type { ClientRequest } from './read-request.ts';
import type { Steps } from './steps.ts';

/** What a request may use and cost at most. */
export interface RequestBounds {
  readonly estimate: TokenEstimate;
  readonly input: BodyBound;
  readonly contextTokensMax: number;
  readonly outputTokensMax: number;
  readonly searchesMax: number;
  readonly hold: HoldEstimate;
  /** The tokens that limits of tokens have to leave room for. */
  readonly demand: TokenDemand;
}

/** Most requests have at most this many tokens that a model may leave unread; tools have some. */
const USUAL_UNSURE_TOKENS_MAX = 1_000;
const UNSURE_SHARE_MAX = 0.25;

/** Throws a `Refusal` if the model cannot take the request, or cannot answer at such length. */
export function findBounds(
  { request, source }: Pick<ClientRequest, 'request' | 'source'>,
  model: Model,
  steps: Pick<Steps, 'estimate' | 'overCeiling' | 'outputHeldMax'>,
): RequestBounds {
  const { overCeiling, estimate: files } = steps;
  const { price } = model;
  const estimate = estimateTokens(request, files.bytesPerToken, source);
  const outputTokensMax = boundOutput(model, request, { overCeiling, estimate });
  const contextTokensMax = contextWindowOf(model, request);
  const searchesMax = boundSearches(request.tools, price);
  const input = boundInput(estimate, { files, windowTokens: contextTokensMax, searchesMax });
  const isElastic = request.outputTokensMax === undefined;
  const costs = { input, outputTokensMax, isElastic, price };
  return {
    ...{ estimate, input, contextTokensMax, outputTokensMax, searchesMax },
    hold: estimateHold(costs),
    demand: estimateDemand(costs, steps.outputHeldMax),
  };
}

/**
 * Whether a request may cost much more than its likely input: files can be of any length, caches
 * have prices of their own, and a model may read what others leave out.
 */
export function isInputUnsure({ files, cacheWrite, unsure, likely }: TokenEstimate): boolean {
  if (files !== undefined || cacheWrite !== undefined) return true;
  return unsure > Math.max(USUAL_UNSURE_TOKENS_MAX, UNSURE_SHARE_MAX * likely);
}
