import type { RequestOutline } from '../protocol/inference.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { Model } from './catalogue.ts';

/** Throws if the model does not do what is asked, or an input does not fit into its window. */
export function checkModelKind(model: Model, { embeds }: RequestOutline): void {
  if ((embeds !== undefined) !== model.isEmbedding) throw refuseKind(model);
  if (embeds !== undefined && embeds.longestTokens > model.contextTokensMax) {
    throw refuseLongInput(embeds.longestTokens, model);
  }
}

function refuseKind({ id, isEmbedding }: Model): Refusal {
  const message = isEmbedding
    ? `The model ${id} only makes embeddings: send it to POST /v1/embeddings.`
    : `The model ${id} makes no embeddings: \`embeddings\` is true in GET /v1/models for those that do.`;
  return new Refusal('invalid_request', message, { param: 'model' });
}

function refuseLongInput(tokens: number, { contextTokensMax }: Model): Refusal {
  const message = `This model's maximum context length is ${contextTokensMax} tokens. However, an input has at least ${tokens} tokens. Please split it.`;
  return new Refusal('context_too_long', message, { param: 'input' });
}
