import { hideCosts } from '../../answers/hide-costs.ts';
import { NO_USAGE } from '../../answers/no-usage.ts';
import type { StreamEncoder } from '../../format.ts';
import type { BlockDelta, BlockStart, InferenceEvent, Usage } from '../../inference.ts';
import type { Json } from '../../json/upstream-json.ts';
import { encodeRefusal } from '../encode-refusal.ts';
import { encodeFinalUsage, mendUsage } from './encode-usage.ts';

type EventOf<Type extends InferenceEvent['type']> = Extract<InferenceEvent, { type: Type }>;

const PING = encodeEvent('ping', { type: 'ping' });

export function createStreamEncoder(): StreamEncoder {
  return new NativeEncoder();
}

class NativeEncoder implements StreamEncoder {
  #hasPinged = false;
  #usageAtStart = NO_USAGE;

  encode(event: InferenceEvent): string {
    switch (event.type) {
      case 'start':
        this.#usageAtStart = event.usage;
        return encodeStart(event);
      case 'block_start':
        return this.#encodeBlockStart(event);
      case 'delta':
        return encodeDelta(event.index, event.delta);
      case 'block_stop':
        return encodeEvent('content_block_stop', {
          type: 'content_block_stop',
          index: event.index,
        });
      case 'usage':
        return '';
      case 'finish':
        return encodeFinish(event, event.usage ?? this.#usageAtStart);
    }
  }

  encodeError(refusal: Parameters<typeof encodeRefusal>[0], requestId: string): string {
    return `event: error\ndata: ${encodeRefusal(refusal, requestId)}\n\n`;
  }

  encodeSilence(): string {
    return PING;
  }

  #encodeBlockStart({ index, block }: EventOf<'block_start'>): string {
    const start = encodeEvent('content_block_start', {
      type: 'content_block_start',
      index,
      content_block: encodeBlock(block),
    });
    const ping = this.#hasPinged ? '' : PING;
    this.#hasPinged = true;
    // Without any delta, some clients lose the tool's input, so an empty delta is always sent.
    const firstDelta =
      block.type === 'tool_use' ? writeDelta(index, 'input_json_delta', 'partial_json', '') : '';
    return start + ping + firstDelta;
  }
}

export function encodeEvent(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** `message` is what an upstream began with; its unknown fields are kept. */
export function encodeStart({ id, model, usage }: EventOf<'start'>, message: Json = {}): string {
  return encodeEvent('message_start', {
    type: 'message_start',
    message: {
      ...hideCosts(message),
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      // Some clients add the tokens of the start to those of the end.
      usage: mendUsage(message, { ...usage, output: 0, thinking: 0 }),
    },
  });
}

function encodeBlock(block: BlockStart) {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: '' };
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: block.data };
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: block.name, input: {} };
  }
}

function encodeDelta(index: number, delta: BlockDelta): string {
  switch (delta.type) {
    case 'text':
      return unlessEmpty(index, 'text_delta', 'text', delta.text);
    case 'thinking':
      return unlessEmpty(index, 'thinking_delta', 'thinking', delta.thinking);
    case 'signature':
      return unlessEmpty(index, 'signature_delta', 'signature', delta.signature);
    case 'input_json':
      return unlessEmpty(index, 'input_json_delta', 'partial_json', delta.json);
  }
}

const unlessEmpty: typeof writeDelta = (index, type, field, said) =>
  said === '' ? '' : writeDelta(index, type, field, said);

/** Most events are deltas. Encoding only their content takes a quarter of the time. */
function writeDelta(index: number, type: string, field: string, said: string): string {
  return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${field}":${JSON.stringify(said)}}}\n\n`;
}

function encodeFinish({ stopReason, stopSequence }: EventOf<'finish'>, usage: Usage): string {
  const delta = encodeEvent('message_delta', {
    type: 'message_delta',
    delta: { stop_reason: stopReason, stop_sequence: stopSequence ?? null },
    usage: encodeFinalUsage(usage),
  });
  return delta + encodeEvent('message_stop', { type: 'message_stop' });
}
