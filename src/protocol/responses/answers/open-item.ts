import type { BlockDelta } from '../../inference.ts';
import { parseJson } from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';
import type { ToolName } from '../response-context.ts';
import type { TextNotes } from '../text-notes.ts';
import type { SealThought } from '../thought.ts';
import { CustomInputReader } from './custom-input.ts';
import { type EventWriter, placeDelta } from './event-writer.ts';
import {
  type ItemStatus,
  type MessageText,
  writeCall,
  writeMessage,
  writeReasoning,
  writeSaid,
  writeSummaryPart,
} from './output-items.ts';

/** The item of an output that is being written. Its methods return the bytes of events. */
export interface OpenItem {
  /** The first event, `output_item.added`, has been written. */
  readonly hasBegun: boolean;
  begin(): string;
  add(delta: BlockDelta): string;
  /** Takes what is known of a text at its end. */
  note?(notes: TextNotes): void;
  /** Whether this is a whole call, which nothing that follows can change. */
  isWholeCall(): boolean;
  /** Whether the answer, if it ends here, would leave half a call behind. */
  isHalfCall(): boolean;
  /** Writes all that precedes `output_item.done`. */
  end(): string;
  describe(status: ItemStatus): object;
}

/** Where an item is, and what writes its events. */
interface ItemPlace {
  readonly events: EventWriter;
  readonly id: string;
  readonly index: number;
}

function writeAdded({ events, index }: ItemPlace, item: object): string {
  return events.write(
    'response.output_item.added',
    `"output_index":${index},"item":${JSON.stringify(item)}`,
  );
}

const writePlace = ({ id, index }: ItemPlace, more = '') =>
  `"item_id":"${id}","output_index":${index}${more}`;

/** A message begins with its first word, for a model may open a text and say nothing. */
export class OpenMessage implements OpenItem {
  hasBegun = false;
  readonly #place: ItemPlace;
  readonly #fields: string;
  readonly #deltaPlace: string;
  readonly #isRefusal: boolean;
  #text = '';
  #notes: TextNotes | undefined;

  constructor(place: ItemPlace, isRefusal: boolean) {
    this.#place = place;
    this.#isRefusal = isRefusal;
    this.#fields = writePlace(place, ',"content_index":0');
    this.#deltaPlace = placeDelta(isRefusal ? this.#fields : `${this.#fields},"logprobs":[]`);
  }

  begin(): string {
    return '';
  }

  /** Writes that the message begins, unless that was written. */
  open(): string {
    if (this.hasBegun) return '';
    this.hasBegun = true;
    const { events, id } = this.#place;
    const part = JSON.stringify(writeSaid({ text: '', isRefusal: this.#isRefusal }));
    return (
      writeAdded(this.#place, writeMessage(id, 'in_progress', undefined)) +
      events.write('response.content_part.added', `${this.#fields},"part":${part}`)
    );
  }

  add(delta: BlockDelta): string {
    if (delta.type !== 'text' || delta.text === '') return '';
    const opening = this.open();
    this.#text += delta.text;
    const { events } = this.#place;
    const kind = this.#isRefusal ? 'refusal' : 'text';
    return opening + events.writeDelta(kind, this.#deltaPlace, delta.text);
  }

  note(notes: TextNotes): void {
    this.#notes = notes;
  }

  isWholeCall = () => false;
  isHalfCall = () => false;

  end(): string {
    const { events } = this.#place;
    const part = JSON.stringify(writeSaid(this.#said));
    return (
      this.#endText() + events.write('response.content_part.done', `${this.#fields},"part":${part}`)
    );
  }

  describe(status: ItemStatus): object {
    return writeMessage(this.#place.id, status, this.#said);
  }

  get #said(): MessageText {
    return { text: this.#text, isRefusal: this.#isRefusal, notes: this.#notes };
  }

  #endText(): string {
    const { events } = this.#place;
    const text = JSON.stringify(this.#text);
    if (this.#isRefusal) {
      return events.write('response.refusal.done', `${this.#fields},"refusal":${text}`);
    }
    const { annotations = [], logprobs = [] } = this.#notes ?? {};
    const annotated = annotations.map((annotation, i) =>
      events.write(
        'response.output_text.annotation.added',
        `${this.#fields},"annotation_index":${i},"annotation":${JSON.stringify(annotation)}`,
      ),
    );
    const done = `${this.#fields},"text":${text},"logprobs":${JSON.stringify(logprobs)}`;
    return annotated.join('') + events.write('response.output_text.done', done);
  }
}

/** Thinking, of which the client may read a summary: here that is all the upstream sends. */
export class ReasoningDraft implements OpenItem {
  hasBegun = false;
  readonly #place: ItemPlace;
  readonly #fields: string;
  readonly #deltaPlace: string;
  readonly #redacted: string | undefined;
  readonly #seal: SealThought | undefined;
  #thinking = '';
  #signature = '';
  #sealed: string | undefined;

  constructor(place: ItemPlace, redacted: string | undefined, seal: SealThought | undefined) {
    this.#place = place;
    this.#fields = writePlace(place, ',"summary_index":0');
    this.#deltaPlace = placeDelta(this.#fields);
    this.#redacted = redacted;
    this.#seal = seal;
  }

  begin(): string {
    this.hasBegun = true;
    const item = { thinking: '', sealed: undefined };
    return writeAdded(this.#place, writeReasoning(this.#place.id, 'in_progress', item));
  }

  add(delta: BlockDelta): string {
    if (delta.type === 'signature') this.#signature += delta.signature;
    if (delta.type !== 'thinking' || delta.thinking === '') return '';
    const { events } = this.#place;
    const part = JSON.stringify(writeSummaryPart(''));
    const opening =
      this.#thinking === ''
        ? events.write('response.reasoning_summary_part.added', `${this.#fields},"part":${part}`)
        : '';
    this.#thinking += delta.thinking;
    return opening + events.writeDelta('thinking', this.#deltaPlace, delta.thinking);
  }

  isWholeCall = () => false;
  isHalfCall = () => false;

  end(): string {
    this.#sealed = this.#seal?.(this.#readThought());
    if (this.#thinking === '') return '';
    const { events } = this.#place;
    const part = JSON.stringify(writeSummaryPart(this.#thinking));
    return (
      events.write(
        'response.reasoning_summary_text.done',
        `${this.#fields},"text":${JSON.stringify(this.#thinking)}`,
      ) + events.write('response.reasoning_summary_part.done', `${this.#fields},"part":${part}`)
    );
  }

  describe(status: ItemStatus): object {
    const item = { thinking: this.#thinking, sealed: this.#sealed };
    return writeReasoning(this.#place.id, status, item);
  }

  #readThought() {
    return this.#redacted === undefined
      ? { type: 'thinking' as const, thinking: this.#thinking, signature: this.#signature }
      : { type: 'redacted_thinking' as const, data: this.#redacted };
  }
}

/** A call of a function or of a custom tool. */
export class OpenCall implements OpenItem {
  hasBegun = false;
  readonly #place: ItemPlace;
  readonly #fields: string;
  readonly #deltaPlace: string;
  readonly #callId: string;
  readonly #tool: ToolName;
  readonly #custom: CustomInputReader | undefined;
  #json = '';
  #isEnded = false;

  constructor(place: ItemPlace, callId: string, tool: ToolName) {
    this.#place = place;
    this.#fields = writePlace(place);
    this.#deltaPlace = placeDelta(this.#fields);
    this.#callId = callId;
    this.#tool = tool;
    this.#custom = tool.isCustom ? new CustomInputReader() : undefined;
  }

  begin(): string {
    this.hasBegun = true;
    return writeAdded(this.#place, this.#describe('in_progress', ''));
  }

  add(delta: BlockDelta): string {
    if (delta.type !== 'input_json') return '';
    this.#json += delta.json;
    return this.#writeDelta(this.#custom === undefined ? delta.json : this.#custom.add(delta.json));
  }

  isWholeCall = () => this.#json !== '' && isObject(parseJson(this.#json));
  isHalfCall = () => !this.isWholeCall();

  /** Clients read the arguments as JSON, and an empty text is not JSON. */
  end(): string {
    this.#isEnded = true;
    const { events } = this.#place;
    const rest = this.#custom === undefined ? this.#fillEmpty() : this.#custom.end();
    const written = this.#writeDelta(rest);
    const input = JSON.stringify(this.#readInput());
    if (this.#custom !== undefined) {
      return (
        written +
        events.write('response.custom_tool_call_input.done', `${this.#fields},"input":${input}`)
      );
    }
    return (
      written +
      events.write(
        'response.function_call_arguments.done',
        `${this.#fields},"name":${JSON.stringify(this.#tool.name)},"arguments":${input}`,
      )
    );
  }

  describe(status: ItemStatus): object {
    const input = this.#readInput();
    const isEmpty = input === '' && this.#custom === undefined && !this.#isEnded;
    return this.#describe(status, isEmpty ? '{}' : input);
  }

  #fillEmpty(): string {
    if (this.#json !== '') return '';
    this.#json = '{}';
    return this.#json;
  }

  #writeDelta(said: string): string {
    if (said === '') return '';
    const kind = this.#tool.isCustom ? 'customInput' : 'arguments';
    return this.#place.events.writeDelta(kind, this.#deltaPlace, said);
  }

  #readInput(): string {
    return this.#custom?.emitted ?? this.#json;
  }

  #describe(status: ItemStatus, input: string): object {
    const call = { callId: this.#callId, tool: this.#tool, input };
    return writeCall(this.#place.id, status, call);
  }
}
