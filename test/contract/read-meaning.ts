import { createAnswerCollector } from '../../src/protocol/answers/answer-collector.ts';
import type {
  InferenceAnswer,
  InferenceEvent,
  StopReason,
  Usage,
} from '../../src/protocol/inference.ts';
import { REFUSAL_TEXT } from '../../src/protocol/responses/answers/output-items.ts';
import { createSseDecoder } from '../../src/protocol/sse/sse-decoder.ts';
import type { StreamDecoder } from '../../src/protocol/sse/stream-decoder.ts';

/** The parts of an answer that every format can express. */
export interface Meaning {
  readonly text: string;
  readonly thinking: string;
  readonly tools: readonly unknown[];
  readonly stopReason: StopReason;
  readonly usage: Omit<Usage, 'cacheWrite5m' | 'cacheWrite1h' | 'untimedWrite'> & {
    readonly cacheWrite: number;
  };
}

export function collectAnswer(events: readonly InferenceEvent[]): InferenceAnswer {
  const collector = createAnswerCollector();
  for (const event of events) collector.add(event);
  return collector.finish();
}

export function readMeaning(events: readonly InferenceEvent[]): Meaning {
  const { content, stopReason, usage } = collectAnswer(events);
  const { cacheWrite5m, cacheWrite1h, untimedWrite: _, ...counts } = usage;
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    thinking: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    tools: content.filter((block) => block.type === 'tool_use'),
    stopReason,
    usage: { ...counts, cacheWrite: cacheWrite5m + cacheWrite1h },
  };
}

/** The meaning that remains in the chat format, which has fewer stop reasons. */
export function throughChat(meaning: Meaning): Meaning {
  const { usage, tools } = meaning;
  return {
    ...meaning,
    stopReason: nameInChat(meaning.stopReason, tools.length > 0),
    usage: { ...usage, thinking: Math.min(usage.thinking, usage.output) },
  };
}

function nameInChat(stopReason: StopReason, hasCalls: boolean): StopReason {
  switch (stopReason) {
    case 'model_context_window_exceeded':
      return 'max_tokens';
    case 'end_turn':
    case 'stop_sequence':
    case 'pause_turn':
      return hasCalls ? 'tool_use' : 'end_turn';
    default:
      return stopReason;
  }
}

/** The same for the responses format, which says in words that a model refused. */
export function throughResponses(meaning: Meaning): Meaning {
  const { stopReason, text } = throughChat(meaning);
  const isSilent = stopReason === 'refusal' && ['', REFUSAL_TEXT].includes(text);
  const isKept = stopReason === 'max_tokens' || isSilent;
  const others = meaning.tools.length > 0 ? 'tool_use' : 'end_turn';
  return {
    ...throughChat(meaning),
    stopReason: isKept ? stopReason : others,
    text: isSilent ? REFUSAL_TEXT : text,
  };
}

export function decodeBytes(bytes: Uint8Array, decoder: StreamDecoder): InferenceEvent[] {
  const events = createSseDecoder()
    .push(bytes)
    .flatMap((event) => decoder.decode(event));
  return [...events, ...decoder.end()];
}

export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(pieces));
}

export function cutBytes(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length];
  ends.sort((a, b) => a - b);
  return ends.map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end));
}
