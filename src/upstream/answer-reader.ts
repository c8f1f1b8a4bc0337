import * as ascii from '../lib/bytes/ascii.ts';
import { GatheredBytes } from '../lib/bytes/gathered-bytes.ts';
import type { AnswerNamer } from '../protocol/answers/answer-namer.ts';
import { decodeUpstreamError } from '../protocol/answers/decode-upstream-error.ts';
import type { AnswerForm, InferenceEvent } from '../protocol/inference.ts';
import { createMemberPicker } from '../protocol/json/member-picker.ts';
import { TextCounter } from '../protocol/json/text-counter.ts';
import {
  ANSWER_BYTES_MAX,
  brokenAnswer,
  parseUpstreamJson,
} from '../protocol/json/upstream-json.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { Sealer } from '../protocol/sealed-reasoning.ts';
import { createEventReader } from '../protocol/sse/event-reader.ts';
import type { MaskText } from '../protocol/sse/mask-frame.ts';
import type { RelayedPart, StreamRelay } from '../protocol/sse/stream-relay.ts';
import { UpstreamFailure } from '../routing/upstream-failure.ts';
import type { HttpHeaders } from './http1/http-client.ts';
import { type PushedPart, SIGN_OF_LIFE, saysAnything } from './pushed-part.ts';
import type { RelayTerms, UpstreamDialect } from './upstream-dialect.ts';

const { OPENING_BRACE, SPACE } = ascii;

const ERROR_BYTES_MAX = 64 * 1024;
/** Smaller answers are not counted: at all 512 places of an upstream they take 32 MiB. */
const UNCOUNTED_BYTES = 64 * 1024;

/**
 * Reads one body. An error that it throws ends the answer, but parts that it emitted before still
 * count.
 */
export interface AnswerReader {
  /** The caller reuses the chunk's memory for the next read. */
  push(chunk: Uint8Array): PushedPart | undefined;
  /** The body has ended. */
  end(): PushedPart | undefined;
}

interface AnswerOptions {
  readonly dialect: UpstreamDialect;
  readonly isStream: boolean;
  /** What the upstream says that its answer is. */
  readonly contentType: string | undefined;
  readonly form: AnswerForm;
  /** The pinned id. It replaces the upstream's own name for the model. */
  readonly model: string;
  readonly seal: Sealer | undefined;
  /** Only for an answer that is translated. */
  readonly namer: AnswerNamer | undefined;
  /** Whether only the cost of the answer is still wanted. */
  readonly isUnread: () => boolean;
  readonly holder: AnswerHolder;
  readonly maskText: MaskText;
  /** Takes what an upstream sent before it failed in the same read. */
  readonly emitter: PartEmitter;
}

/** The memory of an answer that is gathered whole. */
export interface AnswerHolder {
  /** Returns false if there is no room. */
  takeMemory(bytes: number): boolean;
  giveBackMemory(): void;
}

export interface PartEmitter {
  emit(part: PushedPart): void;
}

/** Some upstreams always stream and others never do, whatever was asked for. */
export function createAnswerReader(options: AnswerOptions): AnswerReader {
  const { isStream, contentType } = options;
  const isNamedStream = contentType?.toLowerCase().startsWith('text/event-stream') === true;
  return isStream || isNamedStream
    ? createReaderByFirstByte(options)
    : createReader(options, false);
}

/**
 * The content type can be wrong, and an error may come with that of the stream it replaces. So the
 * first byte decides: an object begins with a brace, and events do not.
 */
function createReaderByFirstByte(options: AnswerOptions): AnswerReader {
  let reader: AnswerReader | undefined;
  return {
    push(chunk) {
      if (reader === undefined) {
        const first = chunk.find((byte) => byte > SPACE);
        if (first === undefined) return undefined;
        reader = createReader(options, first !== OPENING_BRACE);
      }
      return reader.push(chunk);
    },
    end: () => (reader ?? createReader(options, options.isStream)).end(),
  };
}

function createReader(options: AnswerOptions, comesInEvents: boolean): AnswerReader {
  if (options.isStream && comesInEvents) {
    return mayRelay(options) ? new RelayReader(options) : createStreamReader(options);
  }
  return createWholeReader(options, comesInEvents);
}

/**
 * An answer that is to be kept is re-encoded: each of its items needs an id that leads back to
 * it, and vendors may give the same one twice.
 */
function mayRelay({ dialect, form }: AnswerOptions): boolean {
  return dialect.format === form.format && form.context.response?.wantsStore !== true;
}

class RelayReader implements AnswerReader {
  readonly #relay: StreamRelay;
  readonly #emitter: PartEmitter;

  constructor(options: AnswerOptions) {
    const { dialect, maskText, emitter } = options;
    this.#relay = dialect.createStreamRelay(termsOf(options), maskText);
    this.#emitter = emitter;
  }

  push(chunk: Uint8Array): PushedPart {
    const part = this.#unlessFailed(this.#relay.push(chunk));
    return this.#relay.hasReadFrame && !saysAnything(part) ? SIGN_OF_LIFE : part;
  }

  end(): PushedPart {
    return this.#unlessFailed(this.#relay.end());
  }

  #unlessFailed(part: RelayedPart): PushedPart {
    if (part.refusal === undefined) return part;
    this.#emitter.emit(part);
    throw part.refusal;
  }
}

function termsOf({ model, form, seal }: AnswerOptions): RelayTerms {
  return { model, context: form.context, seal };
}

function createStreamReader(options: AnswerOptions): AnswerReader {
  const { dialect, seal, emitter } = options;
  const reader = createEventReader(dialect.createStreamDecoder(seal));
  const readAll = (read: (events: InferenceEvent[]) => boolean): PushedPart => {
    const events: InferenceEvent[] = [];
    try {
      if (read(events) && events.length === 0) return SIGN_OF_LIFE;
    } catch (error) {
      emitter.emit(toPart(events, options));
      throw error;
    }
    return toPart(events, options);
  };
  return {
    push: (chunk) => readAll((events) => reader.push(chunk, events)),
    end: () =>
      readAll((events) => {
        reader.end(events);
        return false;
      }),
  };
}

function decodeWhole(body: Buffer, options: AnswerOptions): PushedPart {
  const { dialect, seal } = options;
  return toPart(dialect.decodeAnswer(body.toString('utf8'), seal), options);
}

function decodeStreamed(body: Buffer, options: AnswerOptions): PushedPart {
  const { dialect, seal } = options;
  const reader = createEventReader(dialect.createStreamDecoder(seal));
  const events: InferenceEvent[] = [];
  reader.push(body, events);
  reader.end(events);
  return toPart(events, options);
}

function relayWhole(body: Buffer, options: AnswerOptions): PushedPart {
  const { events, contentBytes, closing } = options.dialect.relayAnswer(body, termsOf(options));
  if (closing === undefined) return toPart(events, options);
  return { events, contentBytes, bytes: [], closing };
}

function createWholeReader(options: AnswerOptions, comesInEvents: boolean): AnswerReader {
  const { isUnread, isStream, dialect, holder } = options;
  const gathered = new GatheredBytes();
  let readBytes = 0;
  let heldBytes = UNCOUNTED_BYTES;
  let unread: AnswerReader | undefined;
  const decode = (body: Buffer): PushedPart => {
    if (comesInEvents) return decodeStreamed(body, options);
    const isRelayed = mayRelay(options) && !isStream;
    return isRelayed ? relayWhole(body, options) : decodeWhole(body, options);
  };
  return {
    push(chunk) {
      readBytes += chunk.length;
      // A client that stayed would not pay for it either.
      if (readBytes > ANSWER_BYTES_MAX) {
        throw dialect.format === 'embeddings' ? refuseLargeEmbeddings() : refuseLarge();
      }
      if (!comesInEvents && isUnread()) {
        unread ??= createUnreadReader(dialect, gathered.take());
        holder.giveBackMemory();
        return unread.push(chunk);
      }
      gathered.add(chunk);
      if (readBytes > heldBytes) {
        if (!holder.takeMemory(readBytes - heldBytes)) throw refuseForMemory();
        heldBytes = readBytes;
      }
      return undefined;
    },
    end: () => (unread === undefined ? decode(gathered.take()) : unread.end()),
  };
}

/** The upstream is not at fault, and another try would need as much memory. */
export function refuseForMemory(): UpstreamFailure {
  const message = 'Too many large answers are on their way at the moment.';
  const headers = { 'retry-after': '1' };
  return new UpstreamFailure('refused', new Refusal('out_of_memory_budget', message, { headers }));
}

function refuseLarge(): Refusal {
  return new Refusal('upstream_broken', "The upstream's answer is too large.", {
    isOversize: true,
    reason: 'too large',
  });
}

/** Not every client heeds that it should not repeat what an upstream failed at. */
function refuseLargeEmbeddings(): Refusal {
  const message = `Invalid value for 'input': the embeddings need more than ${ANSWER_BYTES_MAX} bytes, the most that an answer may have; send the inputs in several requests, or ask for base64.`;
  return new Refusal('invalid_request', message, {
    isOversize: true,
    param: 'input',
    reason: 'too large',
  });
}

/** Reads what the rest of an answer reports of its cost, and keeps nothing of its content. */
function createUnreadReader(dialect: UpstreamDialect, before: Uint8Array): AnswerReader {
  const { usageMembers, contentMember } = dialect;
  const picker = createMemberPicker(usageMembers, contentMember);
  // Embeddings are no output. Any other answer has some, whatever its upstream reports.
  const texts = dialect.format === 'embeddings' ? undefined : new TextCounter(contentMember);
  const push = (chunk: Uint8Array) => {
    picker.add(chunk);
    texts?.add(chunk);
    return undefined;
  };
  push(before);
  return {
    push,
    end() {
      // A client that stayed would not pay for it either.
      if (!picker.isWhole()) throw brokenAnswer('it is not a JSON object');
      const usage = dialect.readUsage(parseUpstreamJson(picker.finish()));
      if (!picker.hasNoted()) throw brokenAnswer(`it has no ${contentMember}`);
      const hasOutput = usage !== undefined && usage.output > 0;
      const contentBytes = hasOutput ? 0 : (texts?.bytes ?? 0);
      const events: InferenceEvent[] = [
        { type: 'finish', stopReason: 'end_turn', stopSequence: undefined, usage },
      ];
      return { events, contentBytes, bytes: undefined };
    },
  };
}

function toPart(all: readonly InferenceEvent[], { model, namer }: AnswerOptions): PushedPart {
  const events = namer?.name(all) ?? all;
  const renamed =
    events[0]?.type === 'start' ? [{ ...events[0], model }, ...events.slice(1)] : events;
  return { events: renamed, contentBytes: 0, bytes: undefined };
}

/** Cuts an error message that is too long: the status says enough. */
export function createErrorReader(status: number, headers: HttpHeaders): AnswerReader {
  const retryAfter = headers.get('retry-after');
  const gathered = new GatheredBytes();
  const refuse = (): never => {
    const body = gathered.take().toString('utf8');
    const refusal = decodeUpstreamError({ status, body, retryAfter });
    refusal.reason = `status ${status}`;
    throw refusal;
  };
  return {
    push(chunk) {
      gathered.add(chunk);
      return gathered.length > ERROR_BYTES_MAX ? refuse() : undefined;
    },
    end: refuse,
  };
}
