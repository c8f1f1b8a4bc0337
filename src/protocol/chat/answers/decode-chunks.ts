import { createBlockQueue } from '../../answers/block-queue.ts';
import { decodeMessageId } from '../../answers/decode-message-id.ts';
import { decodeStreamError, reportsError } from '../../answers/decode-upstream-error.ts';
import { NO_USAGE } from '../../answers/no-usage.ts';
import { raiseUsage } from '../../answers/raise-usage.ts';
import type { InferenceEvent, Usage } from '../../inference.ts';
import { brokenAnswer, type Json, readObject, readText } from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';
import { joinSaid } from './content-parts.ts';
import { type CallDecoder, createCallDecoder, type PlacedPiece } from './decode-calls.ts';
import { decodeFinishReason } from './decode-finish-reason.ts';
import { decodeUsage } from './decode-usage.ts';

/** The field with the content: `delta` in the chunks of a stream, `message` in a whole answer. */
type SpeechMember = 'delta' | 'message';

/** Reads the chunks of an answer, whether they are many or one. */
export function createChunkDecoder(saidUnder: SpeechMember): ChunkDecoder {
  return new ChunkDecoder(saidUnder);
}

class ChunkDecoder {
  readonly #saidUnder: SpeechMember;
  readonly #blocks = createBlockQueue();
  readonly #calls: CallDecoder;
  #id: string | undefined;
  #usage: Usage | undefined;
  #reportedUsage: Json = {};
  #finishReason: string | undefined;
  #isRefused = false;

  constructor(saidUnder: SpeechMember) {
    this.#saidUnder = saidUnder;
    this.#calls = createCallDecoder(this.#blocks, saidUnder === 'message');
  }

  /** Decodes a chunk. One without a choice reports the usage, or nothing of interest. */
  decode(chunk: Json, eventName?: string): InferenceEvent[] {
    const choices = readChoices(chunk);
    const choice = choices.find(isAskedFor);
    const reported = this.#readUsage(chunk['usage'] ?? choice?.['usage']);
    const raised = reported && raiseUsage(this.#usage ?? NO_USAGE, reported);
    throwError(chunk, eventName, raised);
    this.#usage = raised ?? this.#usage;
    const failed = choices.find(({ error }) => reportsError(error));
    if (failed !== undefined) throw decodeStreamError(failed, raised);
    if (choice === undefined) return this.#emitUsage(reported);
    const events = this.#start(chunk);
    for (const event of this.#decodeDelta(readObject(choice, this.#saidUnder))) events.push(event);
    for (const event of this.#emitUsage(reported)) events.push(event);
    this.#finishReason = readText(choice, 'finish_reason') ?? this.#finishReason;
    return events;
  }

  /** The places of the pieces of calls in the last chunk that had any. */
  get placedCalls(): readonly PlacedPiece[] {
    return this.#calls.placed;
  }

  /** The last usage, as the upstream reported it. */
  get reportedUsage(): Json {
    return this.#reportedUsage;
  }

  /** How much of what was decoded is in no event yet. */
  get waitingBytes(): number {
    return this.#blocks.waitingBytes;
  }

  get finishReason(): string | undefined {
    return this.#finishReason;
  }

  /** Throws if the upstream stops sending before it reported a finish reason. */
  checkEnd(): void {
    if (this.#finishReason === undefined) throw brokenAnswer('it was cut off');
  }

  finish(): InferenceEvent[] {
    if (this.#id === undefined) throw brokenAnswer('it says nothing');
    const said = { hasCalls: this.#calls.hasCalls(), isRefused: this.#isRefused };
    const stopReason = decodeFinishReason(this.#finishReason, said);
    const usage = this.#usage;
    return [...this.#blocks.end(), { type: 'finish', stopReason, stopSequence: undefined, usage }];
  }

  #readUsage(usage: unknown): Usage | undefined {
    if (!isObject(usage)) return undefined;
    this.#reportedUsage = usage;
    return decodeUsage(usage);
  }

  #start(chunk: Json): InferenceEvent[] {
    if (this.#id !== undefined) return [];
    const id = decodeMessageId(readText(chunk, 'id'), 'chatcmpl-');
    this.#id = id;
    const usage = this.#usage ?? NO_USAGE;
    return [{ type: 'start', id, model: readText(chunk, 'model') ?? '', usage }];
  }

  /** Emits usage within a stream. The start event has usage of its own, so none comes before it. */
  #emitUsage(reported: Usage | undefined): InferenceEvent[] {
    if (reported === undefined || this.#usage === undefined) return [];
    const isEmitted = this.#id !== undefined && this.#saidUnder === 'delta';
    return isEmitted ? [{ type: 'usage', usage: this.#usage }] : [];
  }

  #decodeDelta(delta: Json): InferenceEvent[] {
    const { content } = delta;
    const thought = readText(delta, 'reasoning_content') ?? readText(delta, 'reasoning');
    const refusal = readText(delta, 'refusal') ?? '';
    this.#isRefused ||= refusal !== '';
    const blocks = this.#blocks;
    const events = blocks.say('thinking', thought ?? joinSaid(content, 'thinking'));
    const text = typeof content === 'string' ? content : joinSaid(content, 'text');
    for (const event of blocks.say('text', text)) events.push(event);
    for (const event of blocks.say('refusal', refusal)) events.push(event);
    const called = this.#calls.decode(delta['tool_calls'], this.#id ?? '');
    for (const event of called) events.push(event);
    if (!isObject(delta['function_call'])) return events;
    // The deprecated way to call: one call, without an id.
    const alone = [{ index: 0, function: delta['function_call'] }];
    for (const event of this.#calls.decode(alone, this.#id ?? '')) events.push(event);
    return events;
  }
}

/**
 * Throws if the upstream sends an error, instead of an answer or in the middle of one. Some vendors
 * send it without the member `error` around it.
 */
export function throwError(chunk: Json, eventName?: string, reported?: Usage): void {
  if (reportsError(chunk['error'])) throw decodeStreamError(chunk, reported);
  const isNamed = eventName === 'error' || chunk['object'] === 'error';
  if (!isNamed && !reportsError(chunk['error_code'])) return;
  if (readChoices(chunk).length === 0) throw decodeStreamError({ error: chunk }, reported);
}

/** The gateway never asks for a second choice. */
export const isAskedFor = ({ index }: Json) => (index ?? 0) === 0;

export function readChoices({ choices }: Json): readonly Json[] {
  return Array.isArray(choices) ? choices.filter(isObject) : [];
}
