import { type Json, oversizedAnswer, readObject, readText } from '../../../json/upstream-json.ts';
import { isObject } from '../../../schema.ts';
import { ITEMS_MAX, PARTS_MAX } from '../upstream-item.ts';
import { BareItems } from './bare-items.ts';

export const ITEM_ADDED = 'response.output_item.added';
export const ITEM_DONE = 'response.output_item.done';

/** A text of an item. */
interface TextKind {
  /** What its events are called. */
  readonly name: string;
  /** Where it stands when it is whole. */
  readonly field: string;
  /** The part of an item that it is. A call has one text, which is not a part. */
  readonly part?: PartKind;
}

interface PartKind {
  readonly item: 'message' | 'reasoning';
  readonly name: string;
  /** What the number of the part is called. */
  readonly index: string;
}

const CONTENT = { name: 'response.content_part', index: 'content_index' };
const SUMMARY = { name: 'response.reasoning_summary_part', index: 'summary_index' };

/** By the type of the part, or of the call. */
const KINDS: ReadonlyMap<unknown, TextKind> = new Map<unknown, TextKind>([
  [
    'output_text',
    { name: 'response.output_text', field: 'text', part: { item: 'message', ...CONTENT } },
  ],
  [
    'refusal',
    { name: 'response.refusal', field: 'refusal', part: { item: 'message', ...CONTENT } },
  ],
  [
    'reasoning_text',
    { name: 'response.reasoning_text', field: 'text', part: { item: 'reasoning', ...CONTENT } },
  ],
  [
    'summary_text',
    {
      ...{ name: 'response.reasoning_summary_text', field: 'text' },
      part: { item: 'reasoning', ...SUMMARY },
    },
  ],
  ['function_call', { name: 'response.function_call_arguments', field: 'arguments' }],
  ['custom_tool_call', { name: 'response.custom_tool_call_input', field: 'input' }],
]);
const DELTAS = new Map([...KINDS].map(([type, kind]) => [`${kind.name}.delta`, { type, kind }]));
const ENDS = new Map([...KINDS].map(([type, kind]) => [`${kind.name}.done`, { type, kind }]));

/** What an item is when nothing of it has been said. */
const EMPTY: ReadonlyMap<unknown, Json> = new Map<unknown, Json>([
  ['message', { content: [] }],
  ['reasoning', { summary: [], content: undefined, encrypted_content: undefined }],
  ['function_call', { arguments: '' }],
  ['custom_tool_call', { input: '' }],
]);

const NOTHING: readonly Json[] = [];

interface ItemState {
  readonly stage: 'unknown' | 'begun' | 'done';
  readonly type: unknown;
  readonly id: unknown;
  /** The parts that have begun. */
  readonly begun: Set<string>;
  /** The texts that a piece was sent of. */
  readonly said: Set<string>;
}

const createSets = () => ({ begun: new Set<string>(), said: new Set<string>() });

/**
 * What a client was sent of each item. Clients break on a piece of something that has not begun,
 * and some read only what comes in pieces, but not every upstream sends all of it. An event may
 * need another one before it, which may need one as well:
 *
 *   item done ─▶ part done ─▶ text done ─▶ delta ─▶ part added ─▶ item added
 */
export class ItemHistory {
  readonly #items = new Map<unknown, ItemState>();
  readonly bare = new BareItems();

  /** Notes an event, and returns those that have to be sent before it. */
  prepare(type: string, payload: Json): readonly Json[] {
    const { output_index: place, part } = payload;
    if (type === ITEM_ADDED) {
      this.#set(place, 'begun', readObject(payload, 'item'));
      return NOTHING;
    }
    if (type === ITEM_DONE) return this.#prepareEnd(place, readObject(payload, 'item'));
    const state = this.#find(place);
    if (state.stage === 'done') return NOTHING;
    const delta = DELTAS.get(type);
    if (delta !== undefined) {
      this.#keepBare(state, delta, payload);
      return prepareDelta(state, delta, payload);
    }
    const end = ENDS.get(type);
    if (end !== undefined) return prepareTextEnd(state, end, payload);
    return isObject(part) ? preparePart(state, type, payload, part) : NOTHING;
  }

  /** Notes that an item is done, when all that precedes its end is sent. */
  end(place: unknown): void {
    this.bare.end(place);
    this.#set(place, 'done', {});
  }

  /** Whether an item was begun, and its end has not come. */
  isOpen(place: unknown, item: Json): boolean {
    const state = this.#items.get(place);
    return state?.stage === 'begun' && state.type === item['type'];
  }

  #prepareEnd(place: unknown, item: Json): readonly Json[] {
    if (this.#items.get(place)?.stage === 'done') this.#set(place, 'unknown', {});
    const state = this.#find(place);
    const missing = listTexts(item).filter(
      ({ kind, event, words }) =>
        (words !== '' && !state.said.has(nameText(kind, event))) ||
        (kind.part !== undefined && !state.begun.has(nameText(kind, event))),
    );
    const at = { item_id: readText(item, 'id'), output_index: place };
    const ends = missing.map(({ event }) => ({ ...at, ...event }));
    if (state.stage === 'begun') return ends;
    const empty = { ...item, ...EMPTY.get(item['type']), status: 'in_progress' };
    return [{ type: ITEM_ADDED, output_index: place, item: empty }, ...ends];
  }

  #keepBare({ stage, id }: ItemState, { type, kind }: TypedKind, payload: Json): void {
    const { output_index: place, item_id = id, delta } = payload;
    const { part } = kind;
    if (part === undefined || (stage === 'begun' && this.bare.isEmpty)) return;
    if (stage === 'unknown') this.bare.begin(place, part.item, item_id);
    const list = part.index === SUMMARY.index ? 'summary' : 'content';
    this.bare.add(place, { list, index: payload[part.index] ?? 0, type, said: String(delta) });
  }

  #find(place: unknown): ItemState {
    return this.#items.get(place) ?? this.#set(place, 'unknown', {});
  }

  #set(place: unknown, stage: ItemState['stage'], item: Json): ItemState {
    const before = this.#items.get(place);
    if (before === undefined && this.#items.size >= ITEMS_MAX) {
      throw oversizedAnswer('it has too many items');
    }
    // What was noted of pieces that came first stays.
    const { begun, said } = before?.stage === 'unknown' ? before : createSets();
    const state = { stage, type: item['type'], id: item['id'], begun, said };
    this.#items.set(place, state);
    return state;
  }
}

interface TypedKind {
  readonly type: unknown;
  readonly kind: TextKind;
}

function prepareDelta(state: ItemState, typed: TypedKind, payload: Json): readonly Json[] {
  if (payload['delta'] !== '') noteText(state.said, nameText(typed.kind, payload));
  return beginPart(state, typed, payload);
}

/** A text that was not said in pieces is said in one. */
function prepareTextEnd(state: ItemState, typed: TypedKind, payload: Json): readonly Json[] {
  const { kind } = typed;
  const words = readText(payload, kind.field);
  if (words === undefined || state.said.has(nameText(kind, payload))) {
    return beginPart(state, typed, payload);
  }
  return [{ ...placeOf(state, kind, payload), type: `${kind.name}.delta`, delta: words }];
}

function preparePart(state: ItemState, event: string, payload: Json, part: Json): readonly Json[] {
  const { type } = part;
  const kind = KINDS.get(type);
  if (kind?.part === undefined || !event.startsWith(kind.part.name)) return NOTHING;
  const name = nameText(kind, payload);
  if (event.endsWith('.added')) {
    noteText(state.begun, name);
    if (state.stage === 'begun') return NOTHING;
    const { output_index, item_id: id } = payload;
    const item = { type: kind.part.item, id, status: 'in_progress' };
    return [{ type: ITEM_ADDED, output_index, item }];
  }
  const words = readText(part, kind.field);
  if (words === undefined || state.said.has(name)) return beginPart(state, { type, kind }, payload);
  return [{ ...placeOf(state, kind, payload), type: `${kind.name}.done`, [kind.field]: words }];
}

function beginPart(state: ItemState, { type, kind }: TypedKind, payload: Json): readonly Json[] {
  if (kind.part === undefined || state.begun.has(nameText(kind, payload))) return NOTHING;
  const part = { type, [kind.field]: '' };
  return [{ ...placeOf(state, kind, payload), type: `${kind.part.name}.added`, part }];
}

function placeOf({ id }: ItemState, { part }: TextKind, payload: Json): Json {
  const { item_id = id, output_index } = payload;
  return {
    item_id,
    output_index,
    ...(part !== undefined && { [part.index]: payload[part.index] }),
  };
}

/** Names a text among those of its item. */
function nameText({ part }: TextKind, payload: Json): string {
  return part === undefined ? '' : `${part.index} ${String(payload[part.index] ?? 0)}`;
}

function noteText(names: Set<string>, name: string): void {
  if (names.size >= PARTS_MAX && !names.has(name)) {
    throw oversizedAnswer('an item has too many parts');
  }
  names.add(name);
}

/** Returns the events that end the texts of an item, without their place in the output. */
function listTexts(item: Json) {
  const { type, content, summary } = item;
  const call = KINDS.get(type);
  if (call !== undefined && call.part === undefined) {
    const words = readText(item, call.field) ?? '';
    return [{ kind: call, event: { type: `${call.name}.done`, [call.field]: words }, words }];
  }
  return [content, summary].flatMap((parts) =>
    !Array.isArray(parts) ? [] : parts.flatMap((part: unknown, i) => listPart(part, i)),
  );
}

function listPart(part: unknown, index: number) {
  const kind = isObject(part) ? KINDS.get(part['type']) : undefined;
  if (!isObject(part) || kind?.part === undefined) return [];
  const event: Json = { type: `${kind.part.name}.done`, [kind.part.index]: index, part };
  return [{ kind, event, words: readText(part, kind.field) ?? '' }];
}
