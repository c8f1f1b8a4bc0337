import type { Admission } from '../../protocol/admission.ts';
import type { AnswerContext } from '../../protocol/inference.ts';
import { createProgress } from '../../protocol/responses/answers/response-progress.ts';
import type { CallSeal } from '../../protocol/sealed-reasoning.ts';
import type { ClientRequest } from '../read-request.ts';
import type { Steps } from '../steps.ts';
import { createCallSeal } from './create-call-seal.ts';
import { createThoughtSealer } from './thought-sealer.ts';

/** What an answer has of its request and its account. */
export interface AnswerTerms {
  readonly context: AnswerContext;
  readonly reasoning: CallSeal;
}

export function createAnswerTerms(
  { request, wantsStreamUsage, response }: ClientRequest,
  requestId: string,
  { accountId }: Pick<Admission, 'accountId'>,
  steps: Pick<Steps, 'nowMs' | 'reasoning' | 'answerKeeper'>,
): AnswerTerms {
  const nowSeconds = () => Math.floor(steps.nowMs() / 1_000);
  const { embeds } = request;
  const context = { createdSeconds: nowSeconds(), wantsStreamUsage, embeds };
  const seal = createCallSeal(steps.reasoning, accountId, request);
  if (response === undefined) return { context, reasoning: { ...seal, noteUpstream: undefined } };
  const { noteUpstream, sealThought } = createThoughtSealer(seal);
  const progress = createProgress();
  const wantsStore = response.wantsStore && steps.answerKeeper !== undefined;
  return {
    context: {
      ...context,
      response: { ...response, wantsStore, requestId, nowSeconds, sealThought, progress },
    },
    reasoning: { ...seal, noteUpstream },
  };
}
