import type { Infer } from '../../protocol/inference.ts';
import { refuseBound } from '../bind-thoughts.ts';
import { AnswerOrSecond } from './answer-or-second.ts';

/** How vendors say that they did not sign a thought. */
const SIGNATURE_REFUSED = /signature|`?thinking`? block/i;

/** How they say that they signed it, but not where it stands now. */
const PLACE_REFUSED = /cannot be modified/i;

/**
 * Asks an upstream again without thoughts if it refuses them. It may take those of another one:
 * several upstreams can be the same vendor. If the model has to continue from thoughts that their
 * vendor would take, the request is refused.
 */
export function retryWithoutThoughts(upstream: string, infer: Infer): Infer {
  return (call) => {
    const origin = call.reasoning?.origin;
    if (origin === undefined) return infer(call);
    return new AnswerOrSecond(infer(call), call, {
      isAvoided({ message }) {
        if (PLACE_REFUSED.test(message)) return true;
        return origin !== upstream && SIGNATURE_REFUSED.test(message);
      },
      ask({ message }) {
        const isBound = call.reasoning !== undefined && call.reasoning.bound.length > 0;
        if (isBound && !PLACE_REFUSED.test(message)) throw refuseBound(call);
        return infer({ ...call, reasoning: undefined });
      },
    });
  };
}
