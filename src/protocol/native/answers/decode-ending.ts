import type { StopReason } from '../../inference.ts';
import { type Json, readText } from '../../json/upstream-json.ts';

interface Ending {
  readonly stopReason: StopReason;
  readonly stopSequence: string | undefined;
}

export const NO_ENDING: Ending = { stopReason: 'end_turn', stopSequence: undefined };

const STOP_REASONS: readonly StopReason[] = [
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
];

/** Reads why an answer ends. An unknown reason counts as `end_turn`. */
export function decodeEnding(fields: Json): Ending {
  const stopReason = STOP_REASONS.find((reason) => reason === fields['stop_reason']) ?? 'end_turn';
  return { stopReason, stopSequence: readText(fields, 'stop_sequence') };
}
