import type { StopReason } from '../../inference.ts';

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export const FINISH_REASONS: Readonly<Record<StopReason, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};
