import type { InferenceEvent } from '../inference.ts';

/**
 * Reduces an answer that is passed on to what its meter has to know: its beginning, that its
 * model thought, and its end. Nobody can say how many tokens a summary of thoughts stands for.
 */
export function outlineAnswer(events: readonly InferenceEvent[]): readonly InferenceEvent[] {
  return events.filter(
    (event) => event.type === 'start' || event.type === 'finish' || isThought(event),
  );
}

function isThought(event: InferenceEvent): boolean {
  if (event.type !== 'block_start') return false;
  return event.block.type === 'thinking' || event.block.type === 'redacted_thinking';
}
