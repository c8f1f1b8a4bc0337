import type { Admission } from '../../protocol/admission.ts';
import type { AnswerContext } from '../../protocol/inference.ts';
import { createProgress } from '../../protocol/responses/answers/response-progress.ts';
import type { ResponseContext } from '../../protocol/responses/response-context.ts';
import type { CallSeal } from '../../protocol/sealed-reasoning.ts';
import type { ClientSide } from '../client-side.ts';
import type { ClientRequest } from '../read-request.ts';
import type { Steps } from '../steps.ts';
import { createCallSeal } from './create-call-seal.ts';
import { createThoughtSealer } from './thought-sealer.ts';

/** What an answer takes from its request and its account. */
export interface AnswerTerms {
  readonly context: AnswerContext;
  readonly reasoning: CallSeal;
}

/** Who has bought an answer, and from which model. */
interface Sale {
  readonly admission: Pick<Admission, 'accountId'>;
  readonly model: { readonly id: string };
}

export function createAnswerTerms(
  { requestId }: Pick<ClientSide, 'requestId'>,
  {
    request,
    wantsStreamUsage,
    response,
  }: Pick<ClientRequest, 'request' | 'wantsStreamUsage' | 'response'>,
  { admission, model }: Sale,
  steps: Pick<Steps, 'nowMs' | 'reasoning' | 'answerKeeper'>,
): AnswerTerms {
  const nowSeconds = () => Math.floor(steps.nowMs() / 1_000);
  const { embeds } = request;
  const createdSeconds = nowSeconds();
  const asked = { accountId: admission.accountId, model: model.id, request };
  const { seal, open, origin, bound } = createCallSeal(steps.reasoning, asked);
  if (response === undefined) {
    const context = { createdSeconds, wantsStreamUsage, embeds };
    return { context, reasoning: { seal, open, origin, bound, noteUpstream: undefined } };
  }
  const { noteUpstream, sealThought } = createThoughtSealer({ seal });
  const { echo, toolNames, droppedTools, previousId } = response;
  const wantsStore = response.wantsStore && steps.answerKeeper !== undefined;
  const progress = createProgress();
  let completed: number | undefined;
  const completedSeconds = () => {
    completed ??= nowSeconds();
    return completed;
  };
  // The fields are named one by one, because copying the object takes as long as decoding a small
  // request.
  const answering: ResponseContext = {
    echo,
    toolNames,
    droppedTools,
    wantsStore,
    previousId,
    requestId,
    completedSeconds,
    sealThought,
    progress,
  };
  return {
    context: { createdSeconds, wantsStreamUsage, embeds, response: answering },
    reasoning: { seal, open, origin, bound, noteUpstream },
  };
}
