import type { InferenceAnswer, OutputBlock } from '../../inference.ts';
import { encodeUsage } from './encode-usage.ts';

export function encodeAnswer(answer: InferenceAnswer): string {
  return JSON.stringify({
    id: answer.id,
    type: 'message',
    role: 'assistant',
    model: answer.model,
    content: answer.content.map(encodeBlock),
    stop_reason: answer.stopReason,
    stop_sequence: answer.stopSequence ?? null,
    usage: encodeUsage(answer.usage),
  });
}

/** Leaves out what only other formats say. */
function encodeBlock(block: OutputBlock): OutputBlock {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: block.name, input: block.input };
    default:
      return block;
  }
}
