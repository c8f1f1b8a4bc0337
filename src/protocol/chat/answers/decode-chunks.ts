import { decodeStreamError, tellsError } from '../../answers/decode-upstream-error.ts';
import { raiseUsage } from '../../answers/raise-usage.ts';
import type { InferenceEvent, Usage } from '../../inference.ts';
import { brokenAnswer, type Json, readObject, readText } from '../../json/upstream-json.ts';
import { NO_USAGE } from '../../native/answers/decode-usage.ts';
import { isObject } from '../../schema.ts';
import { createCallDecoder } from '../requests/decode-calls.ts';
import { createBlockQueue } from './block-queue.ts';
import { decodeFinishReason } from './decode-finish-reason.ts';
import { decodeMessageId } from './decode-message-id.ts';
import { decodeUsage } from './decode-usage.ts';

/** What is said stands under one name in the chunks of a stream, and under another in a whole answer. */
type SpeechMember = 'delta' | 'message';

/** Reads the chunks of an answer, be they many or one. */
export function createChunkDecoder(saidUnder: SpeechMember): ChunkDecoder {
  return new ChunkDecoder(saidUnder);
}

/** A class, because one is made for every stream. */
class ChunkDecoder {
  readonly #saidUnder: SpeechMember;
  readonly #blocks = createBlockQueue();
  readonly #calls = createCallDecoder(this.#blocks);
  #id: string | undefined;
  #usage: Usage | undefined;
  #finishReason: string | undefined;
  #isRefused = false;

  constructor(saidUnder: SpeechMember) {
    this.#saidUnder = saidUnder;
  }

  /** Chunks without a choice tell of usage, or of nothing that matters here. */
  decode(chunk: Json): InferenceEvent[] {
    throwError(chunk);
    const told = decodeUsage(chunk['usage']);
    if (told !== undefined) this.#usage = raiseUsage(this.#usage ?? NO_USAGE, told);
    const choices = readChoices(chunk);
    // Nobody here asks for a second one.
    const choice = choices.find(({ index }) => (index ?? 0) === 0);
    const failed = choices.find(({ error }) => tellsError(error));
    if (failed !== undefined) throw decodeStreamError(failed);
    if (choice === undefined) return this.#tellUsage(told);
    const events = this.#start(chunk);
    for (const event of this.#decodeDelta(readObject(choice, this.#saidUnder))) events.push(event);
    for (const event of this.#tellUsage(told)) events.push(event);
    this.#finishReason = readText(choice, 'finish_reason') ?? this.#finishReason;
    return events;
  }

  /** Nothing more comes: without a reason, the end is missing too. */
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

  #start(chunk: Json): InferenceEvent[] {
    if (this.#id !== undefined) return [];
    const id = decodeMessageId(readText(chunk, 'id'));
    this.#id = id;
    const usage = this.#usage ?? NO_USAGE;
    return [{ type: 'start', id, model: readText(chunk, 'model') ?? '', usage }];
  }

  /** In a stream, and not before its start, which has it too. */
  #tellUsage(told: Usage | undefined): InferenceEvent[] {
    if (told === undefined || this.#usage === undefined) return [];
    const isTold = this.#id !== undefined && this.#saidUnder === 'delta';
    return isTold ? [{ type: 'usage', usage: this.#usage }] : [];
  }

  #decodeDelta(delta: Json): InferenceEvent[] {
    const thinking = readText(delta, 'reasoning_content') ?? readText(delta, 'reasoning') ?? '';
    const refusal = readText(delta, 'refusal') ?? '';
    this.#isRefused ||= refusal !== '';
    const blocks = this.#blocks;
    const events = blocks.say('thinking', thinking);
    for (const event of blocks.say('text', readContent(delta['content']))) events.push(event);
    for (const event of blocks.say('text', refusal)) events.push(event);
    const called = this.#calls.decode(delta['tool_calls'], this.#id ?? '');
    for (const event of called) events.push(event);
    return events;
  }
}

/** Instead of an answer, or in its middle. */
export function throwError(chunk: Json): void {
  if (tellsError(chunk['error'])) throw decodeStreamError(chunk);
}

export function readChoices({ choices }: Json): readonly Json[] {
  return Array.isArray(choices) ? choices.filter(isObject) : [];
}

/** A text, or the texts of its parts. */
function readContent(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part) =>
      isObject(part) && part['type'] === 'text' ? (readText(part, 'text') ?? '') : '',
    )
    .join('');
}
