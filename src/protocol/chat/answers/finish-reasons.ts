import type { StopReason } from '../../inference.ts';

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call';

const FINISH_REASONS: Readonly<Record<StopReason, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};

const KNOWN_REASONS: readonly unknown[] = [...Object.values(FINISH_REASONS), 'function_call'];

/**
 * Keeps the reason that an upstream of this format reported, because clients take an answer that
 * ends with `content_filter` for an error. Only a `stop` after calls would keep them from being
 * run.
 */
export function keepFinishReason(reported: unknown, stopReason: StopReason): FinishReason {
  const isKept =
    KNOWN_REASONS.includes(reported) && !(reported === 'stop' && stopReason === 'tool_use');
  return isKept ? (reported as FinishReason) : FINISH_REASONS[stopReason];
}

/** Clients show what a model says in a refusal only if nothing else has ended the answer. */
export function finishReasonOf(reason: StopReason, saysRefusal: boolean): FinishReason {
  return saysRefusal && reason === 'refusal' ? 'stop' : FINISH_REASONS[reason];
}
