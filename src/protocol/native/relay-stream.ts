import type { SseEvent } from '../decode-sse.ts';
import type { InferenceEvent, Usage } from '../inference.ts';
import {
  createStreamRelay,
  encodeUtf8,
  type RelayedFrame,
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
  const decoder = createPayloadDecoder();
  const encoder = createStreamEncoder();
  const texts = createTextFrames();
  let stage: 'nothing' | 'started' | 'ending' = 'nothing';
  let usage: Usage = NO_USAGE;

  const relayStart = (start: EventOf<'start'>) => {
    stage = 'started';
    usage = { ...start.usage, output: 0, thinking: 0 };
    return encodeUtf8(encoder.encode({ ...start, model }));
  };

  /** `undefined` where it is good as it is. */
  const mendEnding = (payload: Json): string | undefined => {
    stage = 'ending';
    usage = decodeUsage(payload['usage'], usage);
    const told = readObject(payload, 'usage');
    if (readCount(told['output_tokens']) !== undefined) return undefined;
    return encodeEvent('message_delta', {
      ...payload,
      usage: { ...told, ...encodeFinalUsage(usage) },
    });
  };

  const relayEvent = ({ event, data }: SseEvent, bytes: Uint8Array): RelayedFrame => {
    const payload = parseUpstreamJson(data);
    const events = decoder.decode(payload);
    const [first] = events;
    if (first?.type === 'start') return { events, bytes: relayStart(first) };
    const type = readEventName(payload);
    if (stage === 'nothing' || type === undefined) return { events, bytes: [] };
    if (first?.type === 'finish' && stage !== 'ending') {
      return { events, bytes: encodeUtf8(encoder.encode(first)) };
    }
    const mended = type === 'message_delta' ? mendEnding(payload) : undefined;
    if (mended !== undefined) return { events, bytes: encodeUtf8(mended) };
    if (event !== type) return { events, bytes: encodeUtf8(encodeEvent(type, payload)) };
    return { events, bytes: [bytes] };
  };

  return createStreamRelay({
    relay({ event, bytes }) {
      if (event === undefined) return { events: [], bytes: stage === 'nothing' ? [] : [bytes] };
      const relayed = relayEvent(event, bytes);
      if (relayed.bytes[0] === bytes) texts.learn(bytes, relayed.events);
      else texts.forget();
      return relayed;
    },
    skim(chunk, start) {
      const run = texts.skim(chunk, start);
      if (run === undefined) return undefined;
      const { end, contentBytes } = run;
      const isWhole = start === 0 && end === chunk.length;
      return { bytes: isWhole ? chunk : chunk.subarray(start, end), contentBytes, end };
    },
    end: () => ({ events: decoder.end(), bytes: [] }),
  });
}

/** `undefined` where it is none that could stand in a line of its own. */
function readEventName(payload: Json): string | undefined {
  const type = readText(payload, 'type') ?? '';
  return EVENT_NAME.test(type) ? type : undefined;
}
