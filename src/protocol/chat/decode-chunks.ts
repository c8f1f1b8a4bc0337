import { decodeStreamError } from '../decode-upstream-error.ts';
import type { InferenceEvent, Usage } from '../inference.ts';
import { NO_USAGE } from '../native/decode-usage.ts';
import { isObject } from '../schema.ts';
import { brokenAnswer, type Json, readObject, readText } from '../upstream-json.ts';
import { createCallDecoder } from './decode-calls.ts';
import { decodeFinishReason } from './decode-finish-reason.ts';
import { decodeMessageId } from './decode-message-id.ts';
import { decodeUsage } from './decode-usage.ts';
import { createBlockQueue } from './queue-blocks.ts';

/** Reads the chunks of an answer, be they many or one. */
export function createChunkDecoder() {
  const blocks = createBlockQueue();
  const calls = createCallDecoder(blocks);
  let id: string | undefined;
  let usage: Usage | undefined;
  let finishReason: string | undefined;
  let isRefused = false;

  const start = (chunk: Json): InferenceEvent[] => {
    if (id !== undefined) return [];
    id = decodeMessageId(readText(chunk, 'id'));
    return [{ type: 'start', id, model: readText(chunk, 'model') ?? '', usage: usage ?? NO_USAGE }];
  };

  const decodeDelta = (delta: Json): InferenceEvent[] => {
    const thinking = readText(delta, 'reasoning_content') ?? readText(delta, 'reasoning') ?? '';
    const refusal = readText(delta, 'refusal') ?? '';
    isRefused ||= refusal !== '';
    const events = blocks.say('thinking', thinking);
    for (const event of blocks.say('text', readContent(delta['content']))) events.push(event);
    for (const event of blocks.say('text', refusal)) events.push(event);
    for (const event of calls.decode(delta['tool_calls'], id ?? '')) events.push(event);
    return events;
  };

  return {
    /** Chunks without a choice tell of usage, or of nothing that matters here. */
    decode(chunk: Json): InferenceEvent[] {
      if (isError(chunk['error'])) throw decodeStreamError(chunk);
      usage = decodeUsage(chunk['usage']) ?? usage;
      const choice = findChoice(chunk['choices']);
      if (choice === undefined) return [];
      const events = start(chunk);
      for (const event of decodeDelta(readObject(choice, 'delta'))) events.push(event);
      finishReason = readText(choice, 'finish_reason') ?? finishReason;
      return events;
    },
    /** Nothing more comes: without a reason, the end is missing too. */
    checkEnd(): void {
      if (finishReason === undefined) throw brokenAnswer('it was cut off');
    },
    finish(): InferenceEvent[] {
      if (id === undefined) throw brokenAnswer('it says nothing');
      const said = { hasCalls: calls.hasCalls(), isRefused };
      const stopReason = decodeFinishReason(finishReason, said);
      return [...blocks.end(), { type: 'finish', stopReason, stopSequence: undefined, usage }];
    },
  };
}

const isError = (error: unknown) => isObject(error) || (typeof error === 'string' && error !== '');

/** Nobody here asks for a second choice. */
function findChoice(choices: unknown): Json | undefined {
  if (!Array.isArray(choices)) return undefined;
  return choices.find((choice) => isObject(choice) && (choice['index'] ?? 0) === 0);
}

/** A text, or the texts of its parts. */
function readContent(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part) =>
      isObject(part) && part['type'] === 'text' ? (readText(part, 'text') ?? '') : '',
    )
    .join('');
}
