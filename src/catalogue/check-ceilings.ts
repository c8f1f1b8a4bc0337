import { checkWindow } from '../protocol/check-window.ts';
import type { RequestOutline } from '../protocol/inference.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { Model } from './catalogue.ts';
import type { TokenEstimate } from './estimate-tokens.ts';

interface CeilingRules {
  readonly overCeiling: 'reject' | 'clamp';
  readonly estimate: Pick<TokenEstimate, 'least'>;
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

/**
 * Returns how many tokens the answer may have; throws if the request exceeds a limit.
 *
 *
 * The check uses the least that the input can have. An estimate is often a third too high, and must
 * not refuse what the upstream, which counts exactly, would accept. The upstream refuses everything
 * between the two in the same words. So this check only spares the upstream requests that are far
 * too long.
 */
export function checkCeilings(
  model: Model,
  request: RequestOutline,
  { overCeiling, estimate }: CeilingRules,
): number {
  const asked = request.outputTokensMax;
  if (asked !== undefined && asked > model.outputTokensMax && overCeiling === 'reject') {
    throw refuseOutput(asked, model);
  }
  const outputTokensMax = Math.min(asked ?? model.outputTokensMax, model.outputTokensMax);
  checkWindow({
    inputTokens: estimate.least,
    outputTokens: asked === undefined ? 0 : outputTokensMax,
    contextTokensMax: contextWindowOf(model, request),
  });
  return outputTokensMax;
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
