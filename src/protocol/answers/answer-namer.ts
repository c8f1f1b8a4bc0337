import { fitToolName } from '../fields/fit-tool-name.ts';
import type { BlockStart, InferenceEvent, RequestOutline } from '../inference.ts';

/** The longest id that every vendor takes back. */
const ID_CHARS_MAX = 40;
/** How much of the end of the request id goes into an id of ours. All of it is random. */
const OWN_CHARS = 10;
const REQUEST_PREFIX = /^req_/;
const ANSWER_PREFIX = 'msg_';
const RANDOM_CHARS_MIN = 8;
const SEPARATORS = /[^a-zA-Z0-9]+/;
/** A word, perhaps with a number after it. */
const WORD = /^[a-z]+\d{0,3}$/;
/** Mistral takes back ids of this form only. Some have small letters alone, like a word. */
const MISTRAL_ID = /^(?!call|tool|func)[a-zA-Z0-9]{9}$/;

type Call = Extract<BlockStart, { type: 'tool_use' }>;

/**
 * Gives a translated answer and its calls ids that no other has. Upstreams may count their calls
 * from 0 again in each answer (`call_0`, `look:0`), but a native history has each id once. Some
 * name their answers by small numbers or not at all, and agents take answers with the same id for
 * parts of one.
 *
 * An id stays as it is if it looks random and its conversation does not have it yet: a few
 * vendors take back no other ids than their own. Every other id gets an end from the request id,
 * and the number of the call. Such an answer gets its whole id from the request id. Tools whose
 * names were too long for the upstream get these names again.
 */
export function createAnswerNamer(request: RequestOutline, requestId: string): AnswerNamer {
  return new AnswerNamer(request, requestId);
}

export type { AnswerNamer };

class AnswerNamer {
  readonly #ids = new Set<string>();
  /** By the name that the upstream knows. */
  readonly #longNames = new Map<string, string>();
  readonly #own: string;
  readonly #requestId: string;
  #renamed = 0;

  /** Keeps nothing else of the request, because an answer may take long. */
  constructor({ messages, tools }: RequestOutline, requestId: string) {
    this.#requestId = requestId;
    this.#own = requestId.slice(-OWN_CHARS);
    for (const { name } of tools) if (name !== undefined) this.#noteName(name);
    for (const { content } of messages) {
      if (typeof content === 'string') continue;
      for (const block of content) {
        if (block.type !== 'tool_use') continue;
        this.#ids.add(block.id);
        this.#noteName(block.name);
      }
    }
  }

  /** Returns the same events if no id in them changes and they begin no call. */
  name(events: readonly InferenceEvent[]): readonly InferenceEvent[] {
    if (!events.some(needsName)) return events;
    return events.map((event) => {
      if (event.type === 'start') return { ...event, id: this.#answerIdOf(event.id) };
      if (event.type !== 'block_start' || event.block.type !== 'tool_use') return event;
      const { block } = event;
      const name = this.#longNames.get(block.name) ?? block.name;
      return { ...event, block: { ...block, id: this.#idOf(block), name } };
    });
  }

  #answerIdOf(id: string): string {
    if (looksRandom(id, '')) return id;
    return this.#requestId.replace(REQUEST_PREFIX, ANSWER_PREFIX);
  }

  #noteName(name: string): void {
    const known = fitToolName(name);
    if (known !== name) this.#longNames.set(known, name);
  }

  #idOf({ id, name }: Call): string {
    const isKept = !this.#ids.has(id) && looksRandom(id, name);
    const given = isKept ? id : this.#rename(id);
    this.#ids.add(given);
    return given;
  }

  #rename(id: string): string {
    const end = `_${this.#own}_${this.#renamed}`;
    this.#renamed += 1;
    return id.slice(0, ID_CHARS_MAX - end.length) + end;
  }
}

function needsName(event: InferenceEvent): boolean {
  if (event.type === 'start') return !looksRandom(event.id, '');
  return event.type === 'block_start' && event.block.type === 'tool_use';
}

/** Whether a part of an id is long and neither a word nor from the name of the tool. */
function looksRandom(id: string, toolName: string): boolean {
  const named = toolName.split(SEPARATORS);
  const isNamed = named.some((part) => part !== '' && id.startsWith(part));
  if (MISTRAL_ID.test(id) && !isNamed) return true;
  return id
    .split(SEPARATORS)
    .some((part) => part.length >= RANDOM_CHARS_MIN && !WORD.test(part) && !named.includes(part));
}
