import type { AnswerContext, InferenceAnswer, OutputBlock } from '../../inference.ts';
import { writeArguments } from '../../json/input-text.ts';
import { encodeCompletionId } from './encode-completion-id.ts';
import { encodeUsage } from './encode-usage.ts';
import { finishReasonOf } from './finish-reasons.ts';

export function encodeAnswer(answer: InferenceAnswer, { createdSeconds }: AnswerContext): string {
  const message = encodeMessage(answer.content);
  return JSON.stringify({
    id: encodeCompletionId(answer.id),
    object: 'chat.completion',
    created: createdSeconds,
    model: answer.model,
    choices: [
      {
        index: 0,
        message,
        logprobs: null,
        finish_reason: finishReasonOf(answer.stopReason, message.refusal !== null),
      },
    ],
    usage: encodeUsage(answer.usage),
    system_fingerprint: null,
    service_tier: null,
  });
}

function encodeMessage(content: readonly OutputBlock[]) {
  let text = '';
  let refusal = '';
  let reasoning = '';
  const toolCalls = [];
  for (const block of content) {
    if (block.type === 'text' && block.isRefusal === true) refusal += block.text;
    else if (block.type === 'text') text += block.text;
    else if (block.type === 'thinking') reasoning += block.thinking;
    else if (block.type === 'tool_use') {
      const { id, name, input } = block;
      toolCalls.push({
        id,
        type: 'function',
        function: { name, arguments: writeArguments(input) },
      });
    }
  }
  return {
    role: 'assistant',
    content: text === '' && (refusal !== '' || toolCalls.length > 0) ? null : text,
    refusal: refusal === '' ? null : refusal,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
  };
}
