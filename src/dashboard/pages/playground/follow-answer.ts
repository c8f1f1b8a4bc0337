import type { FormatName } from '../../../protocol/format-names.ts';
import { ApiProblem, toProblem } from '../../api/api-problem.ts';
import { fetchAdmin } from '../../api/fetch-admin.ts';
import { createTextCollector } from './create-text-collector.ts';
import { findFailure } from './find-failure.ts';

/** Only this many characters of the raw answer are shown, from its end. */
const RAW_CHARS_MAX = 200_000;

export interface PlaygroundCall {
  readonly format: FormatName;
  readonly key: string;
  readonly body: string;
}

export interface PlaygroundAnswer {
  /**
   * `failed` does not mean a refusal by the API: either the node did not ask it, or the answer
   * broke off, which the end of a stream may explain.
   */
  readonly state: 'sending' | 'arriving' | 'complete' | 'cancelled' | 'failed';
  /** 0 until the status line has come. */
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly raw: string;
  readonly text: string;
  readonly problem?: ApiProblem;
}

const NOTHING: PlaygroundAnswer = { state: 'sending', status: 0, headers: [], raw: '', text: '' };

/** Calls the API through the node, and calls `show` whenever more of the answer has come. */
export async function followAnswer(
  call: PlaygroundCall,
  signal: AbortSignal,
  show: (answer: PlaygroundAnswer) => void,
): Promise<void> {
  let answer = NOTHING;
  const update = (more: Partial<PlaygroundAnswer>) => {
    answer = { ...answer, ...more };
    show(answer);
  };
  update({});
  try {
    const response = await fetchAdmin('/playground', { method: 'POST', body: call, signal });
    const { status, headers, body } = response;
    const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    update({ state: 'arriving', status, headers: [...headers] });
    const collect = createTextCollector(isStream);
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done) break;
      update({ raw: (answer.raw + value).slice(-RAW_CHARS_MAX), text: collect(value) });
    }
    const failure = isStream ? findFailure(answer.raw) : undefined;
    if (failure === undefined) update({ state: 'complete' });
    else update({ state: 'failed', problem: describeBroken(status, [failure]) });
  } catch (cause) {
    if (signal.aborted) update({ state: 'cancelled' });
    else update({ state: 'failed', problem: explainFailure(cause, answer) });
  }
}

function explainFailure(cause: unknown, { status }: PlaygroundAnswer): ApiProblem {
  if (status === 0) return toProblem(cause);
  return describeBroken(status, [], cause);
}

function describeBroken(status: number, details: readonly string[], cause?: unknown): ApiProblem {
  return new ApiProblem('the answer broke off', { status, code: 'broken_off', details }, { cause });
}
