/**
 * FAST TWIN of `src/protocol/responses/answers/encode-stream.ts`.
 * Held equal by `test/contract/responses-relay.test.ts`.
 * Gain: 119 to 65 us, AMD EPYC, Node 20.20 (`bench/NOTES.md`, "Fast twins").
 */

import * as ascii from '../../../lib/bytes/ascii.ts';
import type { Closing, InferenceEvent } from '../../inference.ts';
import { type Json, parseUpstreamJson, readObject, readText } from '../../json/upstream-json.ts';
import { encodeEvent } from '../../native/answers/encode-stream.ts';
import { isObject } from '../../schema.ts';
import type { SseEvent } from '../../sse/sse-decoder.ts';
import type { SseFrame } from '../../sse/sse-splitter.ts';
import {
  createStreamRelay,
  encodeUtf8,
  type FrameRelay,
  type RelayedFrame,
  type RelayedRun,
  type StreamRelay,
} from '../../sse/stream-relay.ts';
import { createTextFrames } from '../../sse/text-frames.ts';
import { isCutCall, isIncomplete } from './decode-ending.ts';
import { createPayloadDecoder, STREAM_DONE } from './decode-stream.ts';
import { createStreamEncoder } from './encode-stream.ts';
import { EventWriter } from './event-writer.ts';
import { ITEM_ADDED, ITEM_DONE, ItemHistory } from './mending/item-history.ts';
import { ItemList } from './mending/item-list.ts';
import { mendPiece } from './mending/mend-item.ts';
import {
  carriesThought,
  type MendTerms,
  mendResponse,
  mendUsage,
  sealItem,
} from './mending/mend-response.ts';
import { rememberSeals } from './remember-seals.ts';
import { responseContextOf } from './response-object.ts';
import { createProgress, type ResponseProgress, restart } from './response-progress.ts';

const BEGINNINGS = ['response.created', 'response.in_progress', 'response.queued'];
/** What an answer consists of. No model here has tools that would add more. */
const PIECES: ReadonlySet<string> = new Set(
  [
    ...['output_item.added', 'output_item.done', 'content_part.added', 'content_part.done'],
    ...['output_text.delta', 'output_text.done', 'output_text.annotation.added'],
    ...['refusal.delta', 'refusal.done'],
    ...['function_call_arguments.delta', 'function_call_arguments.done'],
    ...['custom_tool_call_input.delta', 'custom_tool_call_input.done'],
    ...['reasoning_text.delta', 'reasoning_text.done'],
    ...['reasoning_summary_part.added', 'reasoning_summary_part.done'],
    ...['reasoning_summary_text.delta', 'reasoning_summary_text.done'],
  ].map((name) => `response.${name}`),
);
/** What some upstreams call an event, and its name for clients. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['response.reasoning_part.added', 'response.content_part.added'],
  ['response.reasoning_part.done', 'response.content_part.done'],
]);
const KEEPALIVE = 'keepalive';

type Finish = Extract<InferenceEvent, { type: 'finish' }>;

const NO_FRAME: RelayedFrame = { events: [], bytes: [] };

/**
 * Relays a stream from an upstream of the responses format to a client of this format. Whatever
 * has the whole response in it is re-encoded, with our names for the response and the model; so
 * are encrypted thoughts, and events whose numbers would leave a gap. What the upstream left out
 * is sent first (`ItemHistory`). Everything else is passed on unchanged. The end repeats the
 * items that were sent, because some clients read those and others read the end; items that only
 * the end has are sent first. Clients break on events that they do not know, so what is not part
 * of the answer is left out; and they run a call again that is sent again, so that is left out as
 * well. A sign of life is sent on as an event, because comments do not reset every client's
 * clock.
 */
export function createResponsesRelay(terms: MendTerms): StreamRelay {
  return createStreamRelay(new ResponsesFrames(terms));
}

class ResponsesFrames implements FrameRelay {
  readonly #terms: MendTerms;
  readonly #decoder;
  readonly #texts = createTextFrames();
  readonly #progress: ResponseProgress;
  readonly #writer: EventWriter;
  /** The number of the event that may follow what `#texts` has read. */
  #textNumber = 0;
  readonly #items: ItemList;
  readonly #history = new ItemHistory();
  #hasStarted = false;
  #hasItems = false;

  constructor(terms: MendTerms) {
    this.#terms = { ...terms, seal: rememberSeals(terms.seal) };
    const { toolNames, progress } = responseContextOf(terms.context);
    this.#decoder = createPayloadDecoder(this.#terms.seal, toolNames);
    this.#progress = progress ?? createProgress();
    this.#writer = new EventWriter(this.#progress);
    this.#items = new ItemList(this.#progress);
    restart(this.#progress, terms.model);
  }

  get nextNumber(): number {
    return this.#progress.nextNumber;
  }

  relay({ event, bytes }: SseFrame): RelayedFrame {
    if (event === undefined) {
      this.#texts.forget();
      return isComment(bytes) ? { events: [], bytes: this.#writeLife() } : NO_FRAME;
    }
    const waitedBytes = this.#decoder.waitingBytes;
    const relayed = this.#relayEvent(event, bytes);
    const isLearnt = relayed.bytes.at(-1) === bytes && this.#history.bare.isEmpty;
    if (isLearnt) this.#texts.learn(bytes, relayed.events);
    else this.#texts.forget();
    this.#textNumber = this.#progress.nextNumber;
    // The client already gets what waits in the decoder, and may leave before that is decoded.
    const undecodedBytes = this.#decoder.waitingBytes - waitedBytes;
    return undecodedBytes === 0 ? relayed : { ...relayed, undecodedBytes };
  }

  skim(chunk: Uint8Array, start: number): RelayedRun | undefined {
    // The gateway has sent an event of its own, so that the numbers of the upstream are too low.
    if (this.#textNumber !== this.#progress.nextNumber) this.#texts.forget();
    const run = this.#texts.skim(chunk, start);
    if (run === undefined) return undefined;
    const { end, ends, contentBytes } = run;
    this.#progress.nextNumber += ends.length;
    this.#textNumber = this.#progress.nextNumber;
    const isWhole = start === 0 && end === chunk.length;
    return { bytes: isWhole ? chunk : chunk.subarray(start, end), contentBytes, end };
  }

  end(): RelayedFrame {
    return { events: this.#decoder.end(), bytes: [] };
  }

  #relayEvent({ event, data }: SseEvent, bytes: Uint8Array): RelayedFrame {
    if (data.trim() === STREAM_DONE) return NO_FRAME;
    const payload = parseUpstreamJson(data);
    const events = this.#decoder.decode(payload);
    const said = readText(payload, 'type') ?? '';
    const type = RENAMED.get(said) ?? said;
    if (type === KEEPALIVE) return { events, bytes: this.#writeLife() };
    const last = events.at(-1);
    if (last?.type === 'finish') return this.#relayEnd(payload, events, last);
    if (BEGINNINGS.includes(type)) return { events, bytes: this.#relayBeginning(type, payload) };
    if (!PIECES.has(type) || this.#decoder.isRepetition) return { events, bytes: [] };
    const begun = this.#hasStarted ? [] : this.#begin({});
    this.#hasItems = true;
    const isNamed = event === type && said === type;
    const piece = this.#relayPiece(type, payload, isNamed ? bytes : undefined);
    return { events, bytes: [...begun, ...piece] };
  }

  #writeLife(): readonly Uint8Array[] {
    return this.#hasStarted ? encodeUtf8(this.#writer.writeBare(KEEPALIVE)) : [];
  }

  /** Clients break on a beginning that comes late, because it has no items yet. */
  #relayBeginning(type: string, payload: Json): readonly Uint8Array[] {
    if (this.#hasItems) return [];
    if (type === 'response.created') return this.#hasStarted ? [] : this.#begin(payload);
    if (!this.#hasStarted) return this.#begin(payload);
    const begun = { status: 'in_progress', ...readObject(payload, 'response') };
    return this.#write(type, { ...payload, response: mendResponse(begun, this.#terms) });
  }

  /** Clients break if a stream does not begin with this event. */
  #begin(payload: Json): readonly Uint8Array[] {
    this.#hasStarted = true;
    const begun = { status: 'in_progress', output: [], usage: null };
    const response = mendResponse({ ...readObject(payload, 'response'), ...begun }, this.#terms);
    const isCreated = payload['type'] === 'response.created';
    return this.#write('response.created', { ...(isCreated && payload), response });
  }

  #relayPiece(type: string, payload: Json, bytes?: Uint8Array): readonly Uint8Array[] {
    const { requestId } = responseContextOf(this.#terms.context);
    const mended = mendPiece(type, payload, requestId);
    const { item, output_index: place } = mended;
    if (type === ITEM_DONE && isObject(item) && isCutCall(item)) {
      this.#items.end(place, item);
      this.#history.end(place);
      return [];
    }
    const missing = this.#history.prepare(type, mended);
    if (missing.length === 0)
      return this.#relayWhole(type, mended, mended === payload ? bytes : undefined);
    const before = missing.flatMap((event) => this.#relayPiece(String(event['type']), event));
    return [...before, ...this.#relayWhole(type, mended, undefined)];
  }

  /** Relays a piece once everything that has to precede it is sent. */
  #relayWhole(type: string, payload: Json, bytes: Uint8Array | undefined) {
    const { item, output_index: place } = payload;
    if (type === ITEM_ADDED) this.#items.begin(place);
    if (type === ITEM_DONE) this.#history.end(place);
    if (carriesThought(item)) return this.#relayThought(type, payload, item);
    if (type === ITEM_DONE) this.#items.end(place, item);
    const isRight = payload['sequence_number'] === this.#progress.nextNumber;
    if (bytes === undefined || !isRight) return this.#write(type, payload);
    this.#progress.nextNumber += 1;
    return [bytes];
  }

  /** A thought is whole only when it is done. */
  #relayThought(type: string, payload: Json, item: Json): readonly Uint8Array[] {
    const isDone = type === ITEM_DONE;
    const sealed = sealItem(item, isDone ? this.#terms.seal : undefined);
    if (isDone) this.#items.end(payload['output_index'], sealed);
    return this.#write(type, { ...payload, item: sealed });
  }

  #write(type: string, payload: Json): readonly Uint8Array[] {
    const { nextNumber } = this.#progress;
    this.#progress.nextNumber += 1;
    return encodeUtf8(encodeEvent(type, { ...payload, type, sequence_number: nextNumber }));
  }

  #relayEnd(payload: Json, events: readonly InferenceEvent[], finish: Finish): RelayedFrame {
    const says = events.some(({ type }) => type === 'block_start');
    if (!this.#hasItems && says) return this.#writeAnew(events, finish);
    const response = readObject(payload, 'response');
    const begun = this.#hasStarted ? [] : this.#begin(payload);
    const bytes = [...begun, ...this.#relayRest(response['output'])];
    const isCut = payload['type'] === 'response.incomplete' || isIncomplete(response);
    // Clients repeat a request whose answer was filtered, and pay for it each time.
    const isFiltered = isCut && finish.stopReason === 'refusal';
    if (isFiltered && this.#items.isSilent) {
      const { closing } = this.#writeAnew([], finish);
      return { events, bytes, closing };
    }
    const mended = isFiltered ? { ...response, incomplete_details: null } : response;
    const status = isCut && !isFiltered ? 'incomplete' : 'completed';
    return { events, bytes, closing: this.#close({ ...payload, response: mended }, status) };
  }

  /**
   * Sends the end of items that were begun, if only the end of the answer has it or nothing does.
   */
  #relayRest(output: unknown): readonly Uint8Array[] {
    const listed: readonly unknown[] = Array.isArray(output) ? output : [];
    const end = (place: unknown, item: Json) =>
      this.#relayPiece(ITEM_DONE, { output_index: place, item });
    const rest = listed.flatMap((item, place) =>
      isObject(item) && this.#history.isOpen(place, item) && !isCutCall(item)
        ? end(place, item)
        : [],
    );
    const bare = this.#history.bare.list().flatMap(([place, item]) => end(place, item));
    return [...rest, ...bare];
  }

  /** For clients that read events, where the upstream has only an end. */
  #writeAnew(
    events: readonly InferenceEvent[],
    finish: Finish,
  ): Required<Omit<RelayedFrame, 'undecodedBytes'>> {
    const { context, model } = this.#terms;
    const response = { ...responseContextOf(context), progress: this.#progress };
    const encoder = createStreamEncoder({ ...context, response });
    const said = events
      .filter((event) => event !== finish)
      .map((event) => encoder.encode(event.type === 'start' ? { ...event, model } : event));
    return {
      events,
      bytes: encodeUtf8(said.join('')),
      closing: (usage) => Buffer.from(encoder.encode({ ...finish, usage })),
    };
  }

  #close(payload: Json, status: 'completed' | 'incomplete'): Closing {
    const reported: Json = { ...readObject(payload, 'response'), status };
    return (usage) => {
      const mended = mendResponse(reported, this.#terms);
      const output = this.#items.list(mended['output']);
      const response = { ...mended, output, usage: mendUsage(reported, usage) };
      return Buffer.concat(this.#write(`response.${status}`, { ...payload, response }));
    };
  }
}

const isComment = (bytes: Uint8Array) => bytes.includes(ascii.COLON);
