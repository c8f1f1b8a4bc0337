import type { InferenceAnswer } from '../../inference.ts';
import { encodeUsage } from './encode-usage.ts';

export function encodeAnswer(answer: InferenceAnswer): string {
  return JSON.stringify({
    id: answer.id,
    type: 'message',
    role: 'assistant',
    model: answer.model,
    content: answer.content,
    stop_reason: answer.stopReason,
    stop_sequence: answer.stopSequence ?? null,
    usage: encodeUsage(answer.usage),
  });
}
