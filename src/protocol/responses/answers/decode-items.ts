import { type BlockQueue, createBlockQueue } from '../../answers/block-queue.ts';
import type { InferenceEvent } from '../../inference.ts';
import { brokenAnswer, type Json, oversizedAnswer, readText } from '../../json/upstream-json.ts';
import { mendToolId } from '../../native/requests/mend-messages.ts';
import { isObject } from '../../schema.ts';
import type { Sealer } from '../../sealed-reasoning.ts';
import { decodeTextNotes } from '../decode-text-notes.ts';
import { createNameFinder } from '../requests/tool-book.ts';
import type { ToolNames } from '../response-context.ts';
import { INPUT_FIELD } from './custom-input.ts';
import {
  ITEMS_MAX,
  isCall,
  nameItem,
  noteSaid,
  type OpenItem,
  openItem,
  startOf,
} from './upstream-item.ts';

/** What the content of a custom tool's call becomes: an object with this one text. */
const CUSTOM_OPENING = `{"${INPUT_FIELD}":"`;
const CUSTOM_CLOSING = '"}';
/** The name of the only part of a call, and of the only block of a thought. */
export const ONLY = '';
/** Parts of summaries are distinguished from parts of content. */
export const SUMMARY = 'summary ';
/** Between two summaries of one thought. */
const SUMMARY_BREAK = '\n\n';

/** Reads the items of an output, whether they come in pieces or as a whole. */
export class ItemDecoder {
  readonly #seal: Sealer | undefined;
  readonly #nameOf: ReturnType<typeof createNameFinder>;
  readonly queue: BlockQueue = createBlockQueue();
  /** By the place in the output, until they are done. */
  readonly #open = new Map<unknown, OpenItem>();
  /** Those that are done: their places, and each with its ids. */
  readonly #done = new Set<string>();
  #items = 0;
  /** Whether what was read last had been said before, and says nothing new. */
  isRepetition = false;
  hasCalls = false;
  isRefused = false;

  constructor(seal: Sealer | undefined, toolNames: ToolNames) {
    this.#seal = seal;
    this.#nameOf = createNameFinder(toolNames);
  }

  get isEmpty(): boolean {
    return this.#items === 0;
  }

  add(place: unknown, item: unknown): InferenceEvent[] {
    if (!isObject(item)) throw brokenAnswer('an item is not an object');
    this.#countItem();
    const name = nameItem(place, item);
    this.isRepetition = name !== undefined && this.#open.get(place)?.name === name;
    if (this.isRepetition) return [];
    const open = openItem(name, item);
    this.#open.set(place, open);
    return isCall(open) ? this.#openCall(open, item) : [];
  }

  /** Begins an item that the upstream sends only in pieces, unless there was one before. */
  expect(place: unknown, type: 'message' | 'reasoning'): void {
    const isKnown = this.#open.has(place) || this.#done.has(String(place));
    if (typeof place === 'number' && !isKnown) this.add(place, { type });
  }

  /** Whether an item was begun, and its end has not come. */
  isOpen(place: unknown, item: Json): boolean {
    return this.#open.get(place)?.type === item['type'];
  }

  /** Takes a piece of a text, of a thought or of what a tool is called with. */
  say(place: unknown, part: string, said: unknown): InferenceEvent[] {
    if (typeof said !== 'string') throw brokenAnswer('a delta is not a text');
    const item = this.#find(place);
    noteSaid(item, part, said.length);
    return this.#say(item, part, said);
  }

  /** Notes that a part is a refusal, before any of it is said. */
  noteRefusal(place: unknown, part: string): void {
    this.isRefused = true;
    this.#open.get(place)?.refusals.add(part);
  }

  /** Takes what is known of a text when it is complete. */
  note(place: unknown, part: string, said: unknown): void {
    const item = this.#open.get(place);
    if (item?.type !== 'message' || !isObject(said)) return;
    const block = item.blocks.get(part);
    if (block !== undefined) block.notes = decodeTextNotes(said, item.phase);
  }

  /** Takes a whole part, whose end may not have been sent. */
  complete(place: unknown, part: string, whole: unknown): InferenceEvent[] {
    const item = this.#open.get(place);
    return item === undefined ? [] : this.#complete(item, part, whole);
  }

  /** Takes an item that is complete. If it is new, nothing of it has been said. */
  end(place: unknown, item: unknown): InferenceEvent[] {
    if (!isObject(item)) throw brokenAnswer('an item is not an object');
    const name = nameItem(place, item);
    // Clients would run the same call again.
    this.isRepetition = name !== undefined && !this.#open.has(place) && this.#done.has(name);
    if (this.isRepetition) {
      this.#countItem();
      return [];
    }
    const events = this.#open.has(place) ? [] : this.add(place, item);
    const open = this.#find(place);
    this.#open.delete(place);
    this.#done.add(String(place));
    if (name !== undefined) this.#done.add(name);
    for (const event of this.#completeItem(open, item)) events.push(event);
    if (open.type === 'reasoning') {
      for (const event of this.#sign(open, item)) events.push(event);
    }
    for (const block of open.blocks.values()) {
      for (const event of this.queue.close(block)) events.push(event);
    }
    return events;
  }

  finish(): InferenceEvent[] {
    return this.queue.end();
  }

  /** Counts repetitions as well, which would have no end otherwise. */
  #countItem(): void {
    this.#items += 1;
    if (this.#items > ITEMS_MAX) throw oversizedAnswer('it has too many items');
  }

  #find(place: unknown): OpenItem {
    const item = this.#open.get(place);
    if (item === undefined) throw brokenAnswer('a delta belongs to no item');
    return item;
  }

  #openCall(open: OpenItem, item: Json): InferenceEvent[] {
    const name = readText(item, 'name');
    if (name === undefined) throw brokenAnswer('a tool has no name');
    const id = readText(item, 'call_id') ?? readText(item, 'id') ?? `call_${this.#items}`;
    this.hasCalls = true;
    const [block, events] = this.queue.append({
      type: 'tool_use',
      id: mendToolId(id),
      name: this.#nameOf(name, readText(item, 'namespace')),
    });
    open.blocks.set(ONLY, block);
    if (open.type === 'custom_tool_call') {
      for (const event of this.queue.add(block, CUSTOM_OPENING)) events.push(event);
    }
    return events;
  }

  #say(item: OpenItem, part: string, said: string): InferenceEvent[] {
    if (said === '' || item.type === 'other') return [];
    if (item.type === 'custom_tool_call')
      return this.#addTo(item, JSON.stringify(said).slice(1, -1));
    if (item.type === 'function_call') return this.#addTo(item, said);
    const key = item.type === 'reasoning' ? ONLY : part;
    const block = item.blocks.get(key);
    if (block === undefined) {
      const [opened, events] = this.queue.append(startOf(item, part));
      item.blocks.set(key, opened);
      return [...events, ...this.queue.add(opened, said)];
    }
    const isNext = item.type === 'reasoning' && item.saidChars.get(part) === said.length;
    return this.queue.add(block, isNext ? SUMMARY_BREAK + said : said);
  }

  #addTo(item: OpenItem, said: string): InferenceEvent[] {
    const block = item.blocks.get(ONLY);
    return block === undefined ? [] : this.queue.add(block, said);
  }

  /**
   * What was said in pieces counts, even if the whole says something else. Pieces of a text may
   * have gone by unread (`createTextFrames`), so only a call can know what is missing at its end.
   */
  #complete(item: OpenItem, part: string, whole: unknown): InferenceEvent[] {
    const saidChars = item.saidChars.get(part) ?? 0;
    if (typeof whole !== 'string' || whole.length <= saidChars) return [];
    if (saidChars > 0 && !isCall(item)) return [];
    const rest = whole.slice(saidChars);
    noteSaid(item, part, rest.length);
    return this.#say(item, part, rest);
  }

  #completeItem(open: OpenItem, item: Json): InferenceEvent[] {
    switch (open.type) {
      case 'function_call':
        return this.#complete(open, ONLY, item['arguments']);
      case 'custom_tool_call': {
        const rest = this.#complete(open, ONLY, item['input']);
        return [...rest, ...this.#addTo(open, CUSTOM_CLOSING)];
      }
      case 'message':
        return this.#completeParts(open, item['content'], '');
      case 'reasoning': {
        const summaries = this.#completeParts(open, item['summary'], SUMMARY);
        const isSummed = [...open.saidChars.keys()].some((part) => part.startsWith(SUMMARY));
        return isSummed ? summaries : this.#completeParts(open, item['content'], '');
      }
      default:
        return [];
    }
  }

  #completeParts(open: OpenItem, parts: unknown, prefix: string): InferenceEvent[] {
    if (!Array.isArray(parts)) return [];
    const events: InferenceEvent[] = [];
    for (const [i, part] of parts.entries()) {
      if (!isObject(part)) continue;
      const name = `${prefix}${i}`;
      const isRefusal = part['type'] === 'refusal';
      if (isRefusal) open.refusals.add(name);
      this.isRefused ||= isRefusal;
      const whole = isRefusal ? part['refusal'] : part['text'];
      for (const event of this.#complete(open, name, whole)) events.push(event);
      const block = open.type === 'message' ? open.blocks.get(name) : undefined;
      if (block !== undefined) block.notes = decodeTextNotes(part, open.phase);
    }
    return events;
  }

  /** Signs a thought with what its upstream needs to recognise it. */
  #sign(open: OpenItem, item: Json): InferenceEvent[] {
    const encrypted = readText(item, 'encrypted_content');
    const id = readText(item, 'id');
    const sealed = encrypted && this.#seal?.({ type: 'reasoning', id, encrypted });
    if (!sealed) return [];
    const block = open.blocks.get(ONLY);
    if (block !== undefined) {
      block.signature = sealed;
      return [];
    }
    // Nothing of it may be seen.
    const [hidden, events] = this.queue.append({ type: 'thinking' });
    hidden.signature = sealed;
    open.blocks.set(ONLY, hidden);
    return events;
  }
}
