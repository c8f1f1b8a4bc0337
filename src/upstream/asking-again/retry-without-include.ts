import { createBoundedCache } from '../../lib/collections/bounded-cache.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { Answer, Infer, InferenceCall } from '../../protocol/inference.ts';
import type { Refusal } from '../../protocol/refusals.ts';
import { includesEncrypted } from '../../protocol/responses/requests/list-included.ts';
import type { ModelTerms } from '../model-terms.ts';
import { AnswerOrSecond } from './answer-or-second.ts';

/** A vendor can give the name of a model to another one, which does encrypt its thoughts. */
const KEPT_FOR_MS = 3_600_000;
const MODELS_MAX = 1_000;

const ENCRYPTED_REFUSED = /encrypted content is not supported/i;

interface RetryParts {
  readonly ask: (call: InferenceCall, terms: ModelTerms) => Answer;
  readonly termsOf: (model: string) => ModelTerms;
  readonly clock: Clock;
}

/**
 * Asks an upstream again without its encrypted thoughts, if the model has none. Only the vendor
 * knows which models these are, so the model is then asked without them for a while. A client that
 * asks for them itself gets the vendor's refusal.
 */
export function retryWithoutInclude({ ask, termsOf, clock }: RetryParts): Infer {
  const bounds = { keepMs: KEPT_FOR_MS, entriesMax: MODELS_MAX };
  const plainTerms = createBoundedCache<ModelTerms>({ clock, ...bounds });
  return (call) => {
    const { model } = call;
    const terms = termsOf(model);
    if (!addsEncrypted(call, terms)) return ask(call, terms);
    const plain = plainTerms.get(model);
    if (plain !== undefined) return ask(call, plain);
    const without = leaveOutEncrypted(terms);
    return new AnswerOrSecond(ask(call, terms), call, {
      isAvoided: isAboutInclude,
      ask: () => ask(call, without),
      noteBegun: () => plainTerms.set(model, without),
    });
  };
}

/** Whether the gateway asks for encrypted thoughts, and not the client itself. */
function addsEncrypted({ request, form, source }: InferenceCall, { accepts }: ModelTerms): boolean {
  if (request.embeds !== undefined || !accepts.has('encrypted_reasoning')) return false;
  return form.format !== 'responses' || !includesEncrypted(source?.value['include']);
}

function leaveOutEncrypted(terms: ModelTerms): ModelTerms {
  const accepts = new Set(terms.accepts);
  accepts.delete('encrypted_reasoning');
  return { ...terms, accepts };
}

function isAboutInclude({ param, message }: Refusal): boolean {
  return param === 'include' || ENCRYPTED_REFUSED.test(message);
}
