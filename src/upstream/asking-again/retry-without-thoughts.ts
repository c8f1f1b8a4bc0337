import type { Infer } from '../../protocol/inference.ts';
import { refuseBound } from '../bind-thoughts.ts';
import { AnswerOrSecond } from './answer-or-second.ts';

/** How vendors say that they did not sign a thought. */
const SIGNATURE_REFUSED = /signature|`?thinking`? block/i;

/**
 * Asks an upstream again without the thoughts of another one, if it refuses them and the model need
 * not go on from them. It may take them: several upstreams can be the same vendor.
 */
export function retryWithoutThoughts(upstream: string, infer: Infer): Infer {
  return (call) => {
    const origin = call.reasoning?.origin;
    if (origin === undefined || origin === upstream) return infer(call);
    return new AnswerOrSecond(infer(call), call, {
      isAvoided: ({ message }) => SIGNATURE_REFUSED.test(message),
      ask() {
        if (call.reasoning !== undefined && call.reasoning.bound.length > 0) {
          throw refuseBound(call);
        }
        return infer({ ...call, reasoning: undefined });
      },
    });
  };
}
