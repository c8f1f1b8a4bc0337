/**
 * FAST TWIN of `src/protocol/native/answers/encode-stream.ts`.
 * Held equal by `test/contract/native-relay.test.ts`.
 * Gain: 49 to 20 us, AMD EPYC, Node 20.20 (`bench/NOTES.md`, "Fast twins").
 */

import { hideCosts, reportsCosts } from '../../answers/hide-costs.ts';
import { NO_USAGE } from '../../answers/no-usage.ts';
import { isSameUsage, raiseUsage } from '../../answers/raise-usage.ts';
import type { Closing, InferenceEvent, Usage } from '../../inference.ts';
import {
  type Json,
  parseUpstreamJson,
  readCount,
  readObject,
  readText,
} from '../../json/upstream-json.ts';
import { type MaskText, maskFrame } from '../../sse/mask-frame.ts';
import type { SseFrame } from '../../sse/sse-splitter.ts';
import {
  createStreamRelay,
  type FrameRelay,
  type RelayedFrame,
  type RelayedRun,
  type StreamRelay,
} from '../../sse/stream-relay.ts';
import { createTextFrames } from '../../sse/text-frames.ts';
import { createPayloadDecoder } from './decode-stream.ts';
import { decodeUsage } from './decode-usage.ts';
import { createStreamEncoder, encodeEvent, encodeStart } from './encode-stream.ts';
import { encodeFinalUsage, mendFinalUsage } from './encode-usage.ts';
import { mendBlockStart } from './mend-blocks.ts';
import { createOrderMender } from './mend-order.ts';

const EVENT_NAME = /^\w{1,64}$/;
/** Other events are not part of the answer, but may be about a failure. */
const OF_THE_ANSWER = /^(message|content_block)_/;

/** Input counts at the end of a stream; the output count is checked separately. */
const FINAL_COUNTS = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'];
const utf8 = new TextEncoder();

/**
 * The event that reports the end of a stream, held until it is known to be the last and its usage
 * right.
 */
interface Ending {
  readonly payload: Json;
  readonly bytes: Uint8Array;
}

type EventOf<Type extends InferenceEvent['type']> = Extract<InferenceEvent, { type: Type }>;

/**
 * Relays a stream from an upstream of the native format to a native client. The start is
 * re-encoded, with `model` and a usage in it. Everything else is passed on unchanged, with five
 * exceptions: an event without its name, the beginning of a block on which clients break, blocks
 * out of order, an end that reports another usage than the billed one, and one without the reason
 * that an earlier one reported. So the end is held until the last event.
 */
export function createNativeRelay(model: string, maskText: MaskText): StreamRelay {
  return createStreamRelay(new NativeFrames(model, maskText));
}

class NativeFrames implements FrameRelay {
  readonly #model: string;
  readonly #maskText: MaskText;
  readonly #decoder = createPayloadDecoder();
  readonly #order = createOrderMender();
  readonly #encoder = createStreamEncoder();
  readonly #texts = createTextFrames();
  #hasStarted = false;
  #usage: Usage = NO_USAGE;
  #ending: Ending | undefined;

  constructor(model: string, maskText: MaskText) {
    this.#model = model;
    this.#maskText = maskText;
  }

  relay({ event, bytes }: SseFrame): RelayedFrame {
    if (event === undefined) {
      return { events: [], bytes: this.#hasStarted ? [maskFrame(bytes, this.#maskText)] : [] };
    }
    const payload = parseUpstreamJson(event.data);
    const mended = this.#order.mend(payload);
    if (mended !== undefined) return this.#relayMended(mended);
    const relayed = this.#relayPayload(payload, event.event, bytes);
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

  #relayMended(payloads: readonly Json[]): RelayedFrame {
    this.#texts.forget();
    const relayed = payloads.map((payload) => this.#relayPayload(payload));
    return {
      events: relayed.flatMap(({ events }) => events),
      bytes: relayed.flatMap(({ bytes }) => bytes),
    };
  }

  /** A payload that did not come in this form has neither name nor bytes. */
  #relayPayload(payload: Json, name?: string, bytes?: Uint8Array): RelayedFrame {
    const events = this.#decoder.decode(payload);
    const [first] = events;
    if (first?.type === 'start') return { events, bytes: this.#relayStart(first, payload) };
    const type = readEventName(payload);
    if (!this.#hasStarted || type === undefined) return { events, bytes: [] };
    const mended = type === 'content_block_start' ? mendBlockStart(payload) : payload;
    const isRight = bytes !== undefined && name === type && mended === payload;
    const named = isRight ? bytes : utf8.encode(encodeEvent(type, mended));
    if (first?.type === 'finish') return { events, bytes: [], closing: this.#close(first, named) };
    if (!OF_THE_ANSWER.test(type)) return { events, bytes: [maskFrame(named, this.#maskText)] };
    if (type !== 'message_delta') return { events, bytes: [named] };
    const before = this.#takeEnding();
    this.#usage = raiseUsage(this.#usage, decodeUsage(payload['usage'], this.#usage));
    const ending = keepReason(payload, this.#ending?.payload);
    const written = ending === payload ? named : encodeEvent(type, ending);
    // A copy, because the chunk's memory may be reused before the next event comes. It may be from
    // the pool, since that event comes soon.
    this.#ending = { payload: ending, bytes: Buffer.from(written) };
    return { events, bytes: before };
  }

  #relayStart(start: EventOf<'start'>, payload: Json): readonly Uint8Array[] {
    this.#hasStarted = true;
    this.#usage = { ...start.usage, output: 0, thinking: 0 };
    const message = readObject(payload, 'message');
    return [utf8.encode(encodeStart({ ...start, model: this.#model }, message))];
  }

  /**
   * Sends a held end that turned out not to be the last one. Clients break on an end without an
   * output count, so such an end is repaired.
   */
  #takeEnding(): readonly Uint8Array[] {
    if (this.#ending === undefined) return [];
    const { payload, bytes } = this.#ending;
    const reported = readObject(payload, 'usage');
    const isCounted = readCount(reported['output_tokens']) !== undefined;
    const isRight = isCounted && !reportsCosts(reported) && !reportsCosts(payload);
    return [isRight ? bytes : mendEnding(payload, this.#usage)];
  }

  #close(finish: EventOf<'finish'>, stop: Uint8Array): Closing {
    const ending = this.#ending;
    const reported = this.#usage;
    const stopBytes = Buffer.from(stop);
    return (usage) => {
      if (ending === undefined) return utf8.encode(this.#encoder.encode({ ...finish, usage }));
      const isRight = isSameUsage(reported, usage) && reportsNothingElse(ending.payload, usage);
      return Buffer.concat([isRight ? ending.bytes : mendEnding(ending.payload, usage), stopBytes]);
    };
  }
}

/** Clients forget a reason that a later end does not repeat. */
function keepReason(ending: Json, before: Json | undefined): Json {
  const delta = readObject(ending, 'delta');
  const { stop_reason, stop_sequence, stop_details } = readObject(before ?? {}, 'delta');
  if (delta['stop_reason'] != null || stop_reason == null) return ending;
  return { ...ending, delta: { ...delta, stop_reason, stop_sequence, stop_details } };
}

/**
 * Whether no count in an end contradicts the usage. Clients need the output count, and can do
 * without counts that have not changed since the start.
 */
function reportsNothingElse(ending: Json, usage: Usage): boolean {
  const reported = readObject(ending, 'usage');
  const ours: Readonly<Record<string, unknown>> = encodeFinalUsage(usage);
  return (
    reported['output_tokens'] === usage.output &&
    !reportsCosts(reported) &&
    !reportsCosts(ending) &&
    FINAL_COUNTS.every((name) => reported[name] == null || reported[name] === ours[name])
  );
}

function mendEnding(ending: Json, usage: Usage): Uint8Array {
  const mended = { ...hideCosts(ending), usage: mendFinalUsage(ending, usage) };
  return utf8.encode(encodeEvent('message_delta', mended));
}

/** Returns `undefined` if the type cannot be written as an event name on one line. */
function readEventName(payload: Json): string | undefined {
  const type = readText(payload, 'type') ?? '';
  return EVENT_NAME.test(type) ? type : undefined;
}
