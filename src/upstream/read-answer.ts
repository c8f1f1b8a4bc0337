import { asBuffer } from '../lib/as-buffer.ts';
import { decodeUpstreamError } from '../protocol/decode-upstream-error.ts';
import type { AnswerForm, InferenceEvent } from '../protocol/inference.ts';
import { createMemberPicker } from '../protocol/pick-members.ts';
import { createEventReader } from '../protocol/read-events.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { RelayedPart, StreamRelay } from '../protocol/stream-relay.ts';
import { parseUpstreamJson } from '../protocol/upstream-json.ts';
import { UpstreamFailure } from '../routing/upstream-failure.ts';
import type { HttpHeaders } from './http1/http-client.ts';
import type { PushedPart } from './pushed-part.ts';
import type { UpstreamDialect } from './upstream-dialect.ts';

/** A whole answer is put together in memory before it is decoded. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
const ERROR_BYTES_MAX = 64 * 1024;

/** Reads one body. What it throws is the end of the answer; what it has told before still counts. */
export interface AnswerReader {
  /** The chunk's memory is used again for what is read next. */
  push(chunk: Uint8Array): PushedPart | undefined;
  /** Nothing more comes. */
  end(): PushedPart | undefined;
}

export interface AnswerOptions {
  readonly dialect: UpstreamDialect;
  readonly isStream: boolean;
  readonly form: AnswerForm;
  /** The pinned id: what the upstream calls it is its own affair. */
  readonly model: string;
  /** Only what the answer costs is wanted by now. */
  readonly isUnread: () => boolean;
  /** For what an upstream told before it failed in the same read. */
  readonly teller: PartTeller;
}

export interface PartTeller {
  tell(part: PushedPart): void;
}

export function createAnswerReader(options: AnswerOptions): AnswerReader {
  const isSameFormat = options.dialect.format === options.form.format;
  if (!options.isStream) return createWholeReader(options, isSameFormat);
  return isSameFormat ? new RelayReader(options) : createStreamReader(options);
}

/** A class, because one is made for every stream. */
class RelayReader implements AnswerReader {
  readonly #relay: StreamRelay;
  readonly #teller: PartTeller;

  constructor({ dialect, form, model, teller }: AnswerOptions) {
    this.#relay = dialect.createStreamRelay(model, form.context);
    this.#teller = teller;
  }

  push(chunk: Uint8Array): PushedPart {
    return this.#unlessFailed(this.#relay.push(chunk));
  }

  end(): PushedPart {
    return this.#unlessFailed(this.#relay.end());
  }

  #unlessFailed(part: RelayedPart): PushedPart {
    if (part.refusal === undefined) return part;
    this.#teller.tell(part);
    throw part.refusal;
  }
}

function createStreamReader({ dialect, model, teller }: AnswerOptions): AnswerReader {
  const reader = createEventReader(dialect.createStreamDecoder());
  const readAll = (read: (events: InferenceEvent[]) => void): PushedPart => {
    const events: InferenceEvent[] = [];
    try {
      read(events);
    } catch (error) {
      teller.tell(toPart(events, model));
      throw error;
    }
    return toPart(events, model);
  };
  return {
    push: (chunk) => readAll((events) => reader.push(chunk, events)),
    end: () => readAll((events) => reader.end(events)),
  };
}

function createWholeReader(
  { dialect, form, model, isUnread }: AnswerOptions,
  isSameFormat: boolean,
): AnswerReader {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let unread: AnswerReader | undefined;
  const decode = (body: Buffer): PushedPart => {
    if (!isSameFormat) return toPart(dialect.decodeAnswer(body.toString('utf8')), model);
    const { events, contentBytes, closing } = dialect.relayAnswer(body, model, form.context);
    if (closing === undefined) return toPart(events, model);
    return { events, contentBytes, bytes: [], closing };
  };
  return {
    push(chunk) {
      if (isUnread()) {
        unread ??= createUnreadReader(dialect, chunks.splice(0));
        return unread.push(chunk);
      }
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) {
        const refusal = new Refusal('upstream_broken', "The upstream's answer is too large.");
        // Another one would be as large, and as dear.
        throw new UpstreamFailure('refused', refusal);
      }
      chunks.push(Buffer.from(chunk));
      return undefined;
    },
    end: () => (unread === undefined ? decode(joinChunks(chunks)) : unread.end()),
  };
}

/** Reads what the rest of an answer tells of its cost, and keeps nothing of what it says. */
function createUnreadReader(dialect: UpstreamDialect, before: readonly Uint8Array[]): AnswerReader {
  const picker = createMemberPicker(dialect.usageMembers);
  let bytes = 0;
  const push = (chunk: Uint8Array) => {
    bytes += chunk.length;
    picker.add(chunk);
    return undefined;
  };
  before.forEach(push);
  return {
    push,
    end() {
      const usage = dialect.readUsage(parseUpstreamJson(picker.finish()));
      const contentBytes = usage === undefined ? bytes : 0;
      const events: InferenceEvent[] = [
        { type: 'finish', stopReason: 'end_turn', stopSequence: undefined, usage },
      ];
      return { events, contentBytes, bytes: undefined };
    },
  };
}

function joinChunks(chunks: readonly Uint8Array[]): Buffer {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? asBuffer(first) : Buffer.concat(chunks);
}

function toPart(events: readonly InferenceEvent[], model: string): PushedPart {
  const renamed =
    events[0]?.type === 'start' ? [{ ...events[0], model }, ...events.slice(1)] : events;
  return { events: renamed, contentBytes: 0, bytes: undefined };
}

/** What is too long to be an error message is cut: the status says enough. */
export function createErrorReader(status: number, headers: HttpHeaders): AnswerReader {
  const retryAfter = headers.get('retry-after');
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const refuse = (): never => {
    throw decodeUpstreamError({ status, body: Buffer.concat(chunks).toString('utf8'), retryAfter });
  };
  return {
    push(chunk) {
      chunks.push(Buffer.from(chunk));
      bytes += chunk.length;
      return bytes > ERROR_BYTES_MAX ? refuse() : undefined;
    },
    end: refuse,
  };
}
