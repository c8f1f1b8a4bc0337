import { isBlank } from '../../fields/is-blank.ts';
import type { InferenceAnswer, OutputBlock } from '../../inference.ts';
import { writeContent } from '../write-content.ts';
import { encodeUsage } from './encode-usage.ts';

export function encodeAnswer(answer: InferenceAnswer): string {
  const { id, model, content } = answer;
  const head = JSON.stringify({ id, type: 'message', role: 'assistant', model });
  const rest = JSON.stringify({
    stop_reason: answer.stopReason,
    stop_sequence: answer.stopSequence ?? null,
    usage: encodeUsage(answer.usage),
  });
  const written = writeContent(content.filter(isSaid).map(encodeBlock));
  return `${head.slice(0, -1)},"content":${written},${rest.slice(1)}`;
}

/** Nobody takes back a text of white space. */
function isSaid(block: OutputBlock): boolean {
  return block.type !== 'text' || !isBlank(block.text);
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
