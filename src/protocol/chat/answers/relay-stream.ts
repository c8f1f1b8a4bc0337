/**
 * FAST TWIN of `src/protocol/chat/answers/encode-stream.ts`.
 * Held equal by `test/contract/chat-relay.test.ts`.
 * Gain: 67 to 29 us, AMD EPYC, Node 20.20 (`bench/NOTES.md`, "Fast twins").
 */

import { asBuffer } from '../../../lib/bytes/as-buffer.ts';
import { isVendorCost } from '../../answers/hide-costs.ts';
import type { AnswerContext, InferenceEvent, Usage } from '../../inference.ts';
import { type Json, parseUpstreamJson, readObject } from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';
import { type MaskText, maskFrame } from '../../sse/mask-frame.ts';
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
import { createTextFrames, type TextRun } from '../../sse/text-frames.ts';
import { countUndecodedBytes, isNothing } from './count-undecoded-bytes.ts';
import { cutAtChoices } from './cut-at-choices.ts';
import { createChunkDecoder, isAskedFor, readChoices } from './decode-chunks.ts';
import { STREAM_DONE } from './decode-stream.ts';
import {
  encodeBeginning,
  encodeDeltaChunk,
  encodeEnd,
  encodeHead,
  encodeTail,
} from './encode-stream.ts';
import { keepFinishReason } from './finish-reasons.ts';
import { createCallMender } from './mend-calls.ts';
import { mendChoices } from './mend-choices.ts';
import { writeOthers } from './write-others.ts';
import { writeUsage } from './write-usage.ts';

/** The fields in the head of a chunk. If a name occurs twice, the later field counts. */
const HEAD_FIELDS = ['id', 'object', 'created', 'model'];
const NO_BYTES = new Uint8Array(0);
const utf8 = new TextEncoder();

/**
 * Relays a stream from an upstream of the chat format to a chat client. Every chunk names the
 * model, so its head is replaced; the content is passed on unchanged. The beginning and the end
 * are re-encoded, because upstreams differ in where they send the finish reason, the usage and
 * the terminator, and whether they send them at all.
 */
export function createChatRelay(
  model: string,
  context: AnswerContext,
  maskText: MaskText,
): StreamRelay {
  return createStreamRelay(new ChatFrames(model, context, maskText));
}

class ChatFrames implements FrameRelay {
  readonly #model: string;
  readonly #context: AnswerContext;
  readonly #maskText: MaskText;
  readonly #chunks = createChunkDecoder('delta');
  readonly #calls = createCallMender();
  readonly #texts = createTextFrames();
  readonly #heads: Heads = { bytes: NO_BYTES, cutBytes: 0 };
  #head: string | undefined;
  #startId = '';
  /** What `#heads` say beyond `#head`: what the upstream's last plain chunk said there. */
  #headOthers = '';
  /** What the last chunk with any other fields said beside its choices. */
  #others = '';
  /** The last such chunk before the beginning. */
  #early: Json = {};

  constructor(model: string, context: AnswerContext, maskText: MaskText) {
    this.#model = model;
    this.#context = context;
    this.#maskText = maskText;
  }

  relay({ event, bytes }: SseFrame): RelayedFrame {
    if (event !== undefined) return this.#relayEvent(event, bytes);
    return {
      events: [],
      bytes: this.#head === undefined ? [] : [maskFrame(bytes, this.#maskText)],
    };
  }

  skim(chunk: Uint8Array, start: number): RelayedRun | undefined {
    const run = this.#texts.skim(chunk, start);
    if (run === undefined) return undefined;
    const { end, contentBytes } = run;
    return { bytes: replaceHeads(chunk, start, run, this.#heads), contentBytes, end };
  }

  end(): RelayedFrame {
    this.#chunks.checkEnd();
    return this.#finish();
  }

  #relayEvent({ event, data }: SseEvent, bytes: Uint8Array): RelayedFrame {
    this.#texts.forget();
    if (data.trim() === STREAM_DONE) return this.#finish();
    const chunk = parseUpstreamJson(data);
    const waitedBytes = this.#chunks.waitingBytes;
    const events = this.#chunks.decode(chunk, event);
    const others = this.#writeOthers(chunk, Object.keys(chunk));
    if (others !== '') this.#others = others;
    const begun = this.#begin(events[0], chunk, others);
    const relayed = this.#relayChunk(chunk, bytes, others);
    const rest = relayed.length === 2 ? relayed[1] : undefined;
    if (rest !== undefined) {
      this.#heads.cutBytes = bytes.length - rest.length;
      this.#texts.learn(bytes, events, this.#heads.cutBytes);
    }
    const bytesOfAll = [...begun, ...relayed];
    // The client already gets what waits in the decoder, and may leave before that is decoded.
    let undecodedBytes = this.#chunks.waitingBytes - waitedBytes;
    if (relayed.length > 0 && !events.some(isDelta)) {
      undecodedBytes += countUndecodedBytes(readChoices(chunk));
    }
    return { events, bytes: bytesOfAll, undecodedBytes };
  }

  #begin(start: InferenceEvent | undefined, chunk: Json, others: string): readonly Uint8Array[] {
    if (start?.type !== 'start') {
      if (this.#head === undefined && others !== '') this.#early = chunk;
      return [];
    }
    const earlyNames = Object.keys(this.#early).filter((name) => chunk[name] == null);
    const said = this.#writeOthers(this.#early, earlyNames) + others;
    this.#early = {};
    const head = encodeHead({ id: start.id, model: this.#model }, this.#context);
    this.#head = head;
    this.#startId = start.id;
    this.#heads.bytes = keepHead(head);
    return encodeUtf8(encodeBeginning({ head, tail: encodeTail(this.#context, said) }));
  }

  #relayChunk(chunk: Json, bytes: Uint8Array, others: string): readonly Uint8Array[] {
    const all = readChoices(chunk);
    const asked = all.every(isAskedFor) ? all : all.filter(isAskedFor);
    if (this.#head === undefined) return [];
    const choices = mendChoices(this.#calls.mend(asked, this.#chunks.placedCalls));
    if (choices.every(isSilent)) return [];
    const isSame = choices === all && isPlain(chunk, all);
    const rest = isSame ? cutAtChoices(bytes) : undefined;
    if (rest !== undefined) return [this.#encodePlainHead(chunk), rest];
    const spoken = choices.map((choice) => ({ ...choice, finish_reason: null }));
    return encodeUtf8(`${this.#head}${JSON.stringify(spoken)}${encodeTail(this.#context, others)}`);
  }

  /** The head of a chunk whose choices and all that follows are passed on unchanged. */
  #encodePlainHead(chunk: Json): Uint8Array {
    const names = Object.keys(chunk);
    const others = this.#writeOthers(chunk, names.slice(0, names.indexOf('choices')));
    if (others !== this.#headOthers) {
      this.#headOthers = others;
      const start = { id: this.#startId, model: this.#model };
      this.#heads.bytes = keepHead(encodeHead(start, this.#context, others));
    }
    return this.#heads.bytes;
  }

  /** These fields are not part of the answer, so a vendor may report a failure there. */
  #writeOthers(chunk: Json, names: readonly string[]): string {
    const others = writeOthers(chunk, names);
    return others === '' ? '' : this.#maskText(others);
  }

  #finish(): RelayedFrame {
    const undecodedBytes = -this.#chunks.waitingBytes;
    const events = this.#chunks.finish();
    const last = events.at(-1);
    if (last?.type !== 'finish') return { events, bytes: [] };
    const reason = keepFinishReason(this.#chunks.finishReason, last.stopReason);
    const context = this.#context;
    const reported = this.#chunks.reportedUsage;
    const head = this.#head ?? '';
    const frame = { head, tail: encodeTail(context, this.#others) };
    const calls = this.#calls.end();
    const rest =
      calls.length > 0
        ? encodeDeltaChunk(head, encodeTail(context), { tool_calls: calls }, null)
        : '';
    return {
      events,
      bytes: encodeUtf8(rest),
      undecodedBytes,
      closing: (usage: Usage) =>
        utf8.encode(encodeEnd(frame, reason, writeUsage(reported, usage), context)),
    };
  }
}

const isDelta = ({ type }: InferenceEvent) => type === 'delta';

/** In memory of its own: a slice of the pool would keep 8 KB alive until the stream ends. */
const keepHead = (head: string) => new Uint8Array(Buffer.from(head));

/** The heads of chunks: the one for the client and the one from the upstream. */
interface Heads {
  bytes: Uint8Array;
  /** The length of the upstream's head, in chunks like the last one. */
  cutBytes: number;
}

function replaceHeads(chunk: Uint8Array, start: number, run: TextRun, heads: Heads): Buffer {
  const { ends, end } = run;
  const { bytes, cutBytes } = heads;
  const source = asBuffer(chunk);
  const replaced = Buffer.allocUnsafe(end - start + ends.length * (bytes.length - cutBytes));
  let at = 0;
  let frameStart = start;
  for (const frameEnd of ends) {
    replaced.set(bytes, at);
    at += bytes.length;
    at += source.copy(replaced, at, frameStart + cutBytes, frameEnd);
    frameStart = frameEnd;
  }
  return replaced;
}

/**
 * Whether a choice says nothing new: roles, finish reasons and empty values are written at the
 * beginning and at the end. A token without a text, such as half of a character, may have logprobs.
 */
function isSilent(choice: Json): boolean {
  const delta = readObject(choice, 'delta');
  return (
    Object.entries(delta).every(([name, value]) => name === 'role' || isNothing(value)) &&
    Object.entries(choice).every(([name, value]) => isRewritten(name) || isEmpty(value))
  );
}

const isRewritten = (name: string) =>
  name === 'index' || name === 'delta' || name === 'finish_reason';

const isEmpty = (value: unknown) =>
  isNothing(value) || (isObject(value) && Object.keys(value).length === 0);

/** Whether nothing but the part before the choices has to be replaced. */
function isPlain(chunk: Json, choices: readonly Json[]): boolean {
  const names = Object.keys(chunk);
  const behind = names.slice(names.indexOf('choices'));
  return (
    chunk['usage'] == null &&
    !behind.some((name) => HEAD_FIELDS.includes(name) || isVendorCost(name)) &&
    choices.every((choice) => choice['finish_reason'] == null)
  );
}
