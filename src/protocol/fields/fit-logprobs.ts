import { ANSWER_BYTES_MAX } from '../json/upstream-json.ts';
import type { UpstreamCallOutline } from '../upstream-call.ts';

/** A token that was likely, with its logarithm and its bytes, as vendors write it. */
const LOGPROB_BYTES = 100;

/**
 * Returns how many tokens a model may write. A whole answer that is too long to be read reaches
 * nobody, and its vendor bills it. So an answer with `top_logprobs` gets only as many tokens as
 * fit.
 */
export function fitLogprobs({ source, isStream, outputTokensMax }: UpstreamCallOutline): number {
  const top = source?.value['top_logprobs'];
  if (isStream || typeof top !== 'number' || !(top > 0)) return outputTokensMax;
  const fitting = Math.floor(ANSWER_BYTES_MAX / ((top + 1) * LOGPROB_BYTES));
  return Math.min(outputTokensMax, Math.max(1, fitting));
}
