import type { SseEvent } from '../decode-sse.ts';
import type { InferenceEvent, Usage } from '../inference.ts';
import type { SseFrame } from '../split-sse.ts';
import {
  createStreamRelay,
  encodeUtf8,
  type FrameRelay,
  type RelayedFrame,
  type RelayedRun,
  type StreamRelay,
} from '../stream-relay.ts';
import { createTextFrames } from '../text-frames.ts';
import { type Json, parseUpstreamJson, readCount, readObject, readText } from '../upstream-json.ts';
import { createPayloadDecoder } from './decode-stream.ts';
import { decodeUsage, NO_USAGE } from './decode-usage.ts';
import { createStreamEncoder, encodeEvent } from './encode-stream.ts';
import { encodeFinalUsage } from './encode-usage.ts';

const EVENT_NAME = /^\w{1,64}$/;

type EventOf<Type extends InferenceEvent['type']> = Extract<InferenceEvent, { type: Type }>;

/**
 * From an upstream of the native format to a native client. The start is written anew, with `model` in it;
 * everything else goes on as it came, but for what clients break on: an event without its name, and an end
 * without usage.
 */
export function createNativeRelay(model: string): StreamRelay {
  return createStreamRelay(new NativeFrames(model));
}

/** A class, because one is made for every stream. */
class NativeFrames implements FrameRelay {
  readonly #model: string;
  readonly #decoder = createPayloadDecoder();
  readonly #encoder = createStreamEncoder();
  readonly #texts = createTextFrames();
  #stage: 'nothing' | 'started' | 'ending' = 'nothing';
  #usage: Usage = NO_USAGE;

  constructor(model: string) {
    this.#model = model;
  }

  relay({ event, bytes }: SseFrame): RelayedFrame {
    if (event === undefined) return { events: [], bytes: this.#stage === 'nothing' ? [] : [bytes] };
    const relayed = this.#relayEvent(event, bytes);
    if (relayed.bytes[0] === bytes) this.#texts.learn(bytes, relayed.events);
    else this.#texts.forget();
    return relayed;
  }

  skim(chunk: Uint8Array, start: number): RelayedRun | undefined {
    const run = this.#texts.skim(chunk, start);
    if (run === undefined) return undefined;
    const { end, contentBytes } = run;
    const isWhole = start === 0 && end === chunk.length;
    return { bytes: isWhole ? chunk : chunk.subarray(start, end), contentBytes, end };
  }

  end(): RelayedFrame {
    return { events: this.#decoder.end(), bytes: [] };
  }

  #relayEvent({ event, data }: SseEvent, bytes: Uint8Array): RelayedFrame {
    const payload = parseUpstreamJson(data);
    const events = this.#decoder.decode(payload);
    const [first] = events;
    if (first?.type === 'start') return { events, bytes: this.#relayStart(first) };
    const type = readEventName(payload);
    if (this.#stage === 'nothing' || type === undefined) return { events, bytes: [] };
    if (first?.type === 'finish' && this.#stage !== 'ending') {
      return { events, bytes: encodeUtf8(this.#encoder.encode(first)) };
    }
    const mended = type === 'message_delta' ? this.#mendEnding(payload) : undefined;
    if (mended !== undefined) return { events, bytes: encodeUtf8(mended) };
    if (event !== type) return { events, bytes: encodeUtf8(encodeEvent(type, payload)) };
    return { events, bytes: [bytes] };
  }

  #relayStart(start: EventOf<'start'>): readonly Uint8Array[] {
    this.#stage = 'started';
    this.#usage = { ...start.usage, output: 0, thinking: 0 };
    return encodeUtf8(this.#encoder.encode({ ...start, model: this.#model }));
  }

  /** `undefined` where it is good as it is. */
  #mendEnding(payload: Json): string | undefined {
    this.#stage = 'ending';
    this.#usage = decodeUsage(payload['usage'], this.#usage);
    const told = readObject(payload, 'usage');
    if (readCount(told['output_tokens']) !== undefined) return undefined;
    return encodeEvent('message_delta', {
      ...payload,
      usage: { ...told, ...encodeFinalUsage(this.#usage) },
    });
  }
}

/** `undefined` where it is none that could stand in a line of its own. */
function readEventName(payload: Json): string | undefined {
  const type = readText(payload, 'type') ?? '';
  return EVENT_NAME.test(type) ? type : undefined;
}
