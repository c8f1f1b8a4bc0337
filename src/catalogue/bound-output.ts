import { checkWindow } from '../protocol/check-window.ts';
import type { RequestOutline } from '../protocol/inference.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { Model } from './catalogue.ts';
import type { TokenEstimate } from './estimate-tokens.ts';

interface CeilingRules {
  readonly overCeiling: 'reject' | 'clamp';
  readonly estimate: Pick<TokenEstimate, 'least' | 'likely'>;
}

/** The tokens that input and output share. Each input of embeddings has a window of its own. */
export function contextWindowOf(model: Model, request: RequestOutline): number {
  const { embeds } = request;
  if (embeds !== undefined) {
    return Math.min(embeds.inputs.length * model.contextTokensMax, embeds.tokensMax);
  }
  const beta = request.isBetaContext ? model.betaContextTokensMax : undefined;
  return beta ?? model.contextTokensMax;
}

/** A share of the window and of the ceiling: the smaller of both is left to every answer. */
const OPEN_OUTPUT_WINDOW_SHARE = 1 / 8;
const OPEN_OUTPUT_CEILING_SHARE = 1 / 2;

/**
 * Returns how many tokens the answer may have; throws if the request exceeds a limit.
 *
 * The check uses the least that the input can have. An estimate is often a third too high, and must
 * not refuse what the upstream, which counts exactly, would accept. The upstream refuses everything
 * between the two in the same words. So this check only spares the upstream requests that are far
 * too long.
 */
export function boundOutput(
  model: Model,
  request: RequestOutline,
  { overCeiling, estimate }: CeilingRules,
): number {
  const asked = request.outputTokensMax;
  if (asked !== undefined && asked > model.outputTokensMax && overCeiling === 'reject') {
    throw refuseOutput(asked, model);
  }
  const contextTokensMax = contextWindowOf(model, request);
  const outputTokens = asked === undefined ? 0 : Math.min(asked, model.outputTokensMax);
  checkWindow({ inputTokens: estimate.least, outputTokens, contextTokensMax });
  return asked === undefined ? fitOutput(model, contextTokensMax, estimate.likely) : outputTokens;
}

/**
 * The most output of a client that named no maximum. Many upstreams refuse a request whose input
 * and maximum exceed the window together, so the answer gets what the input leaves. If the estimate
 * is a third too high, it finds the window full when a quarter of it is free. So at least half of
 * that quarter is asked for, or half of the ceiling if that is less: no estimate cuts an answer to
 * nothing, and what an upstream then still refuses, the full ceiling would not have passed either.
 */
function fitOutput(model: Model, contextTokensMax: number, likely: number): number {
  const ceiling = model.outputTokensMax;
  const least = Math.ceil(
    Math.min(ceiling * OPEN_OUTPUT_CEILING_SHARE, contextTokensMax * OPEN_OUTPUT_WINDOW_SHARE),
  );
  return Math.min(ceiling, Math.max(least, contextTokensMax - likely));
}

function refuseOutput(asked: number, model: Model): Refusal {
  const ceiling = model.outputTokensMax;
  return new Refusal(
    'invalid_request',
    `max_tokens: ${asked} > ${ceiling}, which is the maximum allowed number of output tokens for ${model.id}`,
    {
      param: 'max_tokens',
      chatMessage: `max_tokens is too large: ${asked}. This model supports at most ${ceiling} completion tokens, whereas you provided ${asked}.`,
    },
  );
}
