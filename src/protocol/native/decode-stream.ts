import type { SseEvent } from '../decode-sse.ts';
import type { InferenceEvent, StopReason, Usage } from '../inference.ts';
import { Refusal, type RefusalName } from '../refusals.ts';
import { isObject } from '../schema.ts';
import { brokenStream, createBlockDecoder, type Json, readText } from './decode-blocks.ts';
import { decodeUsage, NO_USAGE } from './decode-usage.ts';

export interface StreamDecoder {
  /** Throws a `Refusal` when the upstream tells of an error, or makes no sense. */
  decode(event: SseEvent): InferenceEvent[];
  /** Nothing more comes: throws a `Refusal` when something should have. */
  end(): void;
}

const STOP_REASONS: readonly StopReason[] = [
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
];

const REFUSAL_OF_ERROR: Readonly<Record<string, RefusalName>> = {
  overloaded_error: 'upstream_overloaded',
  rate_limit_error: 'upstream_overloaded',
  timeout_error: 'answer_too_slow',
};

const ERROR_CHARS_MAX = 500;

/** Reads what an upstream of the native format streams. */
export function createStreamDecoder(): StreamDecoder {
  let usage: Usage = NO_USAGE;
  let stopReason: StopReason = 'end_turn';
  let stopSequence: string | undefined;
  let stage: 'nothing' | 'started' | 'finished' = 'nothing';
  const blocks = createBlockDecoder();

  const start = (payload: Json): InferenceEvent[] => {
    if (stage !== 'nothing') throw brokenStream('it starts twice');
    const message = isObject(payload['message']) ? payload['message'] : {};
    const { id, model } = message;
    if (typeof id !== 'string' || typeof model !== 'string') throw brokenStream('it has no id');
    usage = decodeUsage(message['usage'], NO_USAGE);
    stage = 'started';
    return [{ type: 'start', id, model, usage }];
  };

  const noteStop = (payload: Json): InferenceEvent[] => {
    const delta = isObject(payload['delta']) ? payload['delta'] : {};
    // A reason that is not known yet ends the answer all the same.
    stopReason = STOP_REASONS.find((reason) => reason === delta['stop_reason']) ?? 'end_turn';
    stopSequence = readText(delta, 'stop_sequence');
    usage = decodeUsage(payload['usage'], usage);
    return [];
  };

  const finish = (): InferenceEvent[] => {
    if (blocks.isOpen()) throw brokenStream('it ends in the middle of a block');
    stage = 'finished';
    return [{ type: 'finish', stopReason, stopSequence, usage }];
  };

  const steps: Readonly<Record<string, (payload: Json) => InferenceEvent[]>> = {
    content_block_start: blocks.start,
    content_block_delta: blocks.addDelta,
    content_block_stop: blocks.stop,
    message_delta: noteStop,
    message_stop: finish,
  };

  return {
    decode({ data }) {
      const payload = parse(data);
      const type = readText(payload, 'type') ?? '';
      if (type === 'error') throw toRefusal(payload);
      if (type === 'message_start') return start(payload);
      const step = Object.hasOwn(steps, type) ? steps[type] : undefined;
      // Pings, and events that are newer than this.
      if (step === undefined) return [];
      if (stage !== 'started') throw brokenStream(`${type} is out of order`);
      return step(payload);
    },
    end() {
      if (stage !== 'finished') throw brokenStream('it was cut off');
    },
  };
}

function parse(data: string): Json {
  try {
    const payload: unknown = JSON.parse(data);
    if (isObject(payload)) return payload;
  } catch {
    // Refused below, as what is JSON but no object.
  }
  throw brokenStream('an event is not a JSON object');
}

function toRefusal(payload: Json): Refusal {
  const error = isObject(payload['error']) ? payload['error'] : {};
  const type = readText(error, 'type') ?? '';
  const name = Object.hasOwn(REFUSAL_OF_ERROR, type) ? REFUSAL_OF_ERROR[type] : undefined;
  const message = readText(error, 'message') ?? 'The upstream failed.';
  return new Refusal(name ?? 'upstream_broken', message.slice(0, ERROR_CHARS_MAX));
}
