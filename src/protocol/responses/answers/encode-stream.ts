import { NO_USAGE } from '../../answers/no-usage.ts';
import type { StreamEncoder } from '../../format.ts';
import type { AnswerContext, BlockDelta, BlockStart, InferenceEvent } from '../../inference.ts';
import { oversizedAnswer } from '../../json/upstream-json.ts';
import { REFUSALS, type Refusal } from '../../refusals.ts';
import { encodeKeptOutput } from '../encode-kept-output.ts';
import { failureCodeOf } from '../encode-refusal.ts';
import type { AnswerToKeep } from '../references.ts';
import type { ResponseContext } from '../response-context.ts';
import { describeLast, isTooLong } from './encode-answer.ts';
import { EventWriter } from './event-writer.ts';
import { OpenCall, type OpenItem, OpenMessage, ReasoningDraft } from './open-item.ts';
import type { MessageText } from './output-items.ts';
import {
  itemIdOf,
  ResponseObject,
  responseContextOf,
  responseIdOf,
  toolOf,
} from './response-object.ts';
import {
  createProgress,
  KEPT_CHARS_MAX,
  type ResponseProgress,
  restart,
} from './response-progress.ts';

type EventOf<Type extends InferenceEvent['type']> = Extract<InferenceEvent, { type: Type }>;
type Finish = EventOf<'finish'>;

export function createStreamEncoder(context: AnswerContext): StreamEncoder {
  return new ResponsesEncoder(context);
}

/**
 * Writes one item after the other. The end of an item waits until it is known how it ended:
 *
 *   open ──block ends──▶ held ──next block──▶ written, completed
 *    │                    └────finish───────▶ written, completed or incomplete
 *    └─block ends, a whole call──────────────▶ written, completed
 *
 * Half a call is not written.
 */
class ResponsesEncoder implements StreamEncoder {
  readonly #context: AnswerContext;
  readonly #response: ResponseContext;
  readonly #progress: ResponseProgress;
  readonly #events: EventWriter;
  #writer: ResponseObject;
  #open: OpenItem | undefined;
  #usageAtStart = NO_USAGE;
  /** The length of all items that are done, and of what was said of the open one. */
  #doneChars = 0;
  #openChars = 0;
  #hasText = false;
  #hasCall = false;
  #isKept: boolean;
  /** The events that precede the last one, once they are known. */
  #ending: string | undefined;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#response = responseContextOf(context);
    this.#isKept = this.#response.isKept === true;
    this.#progress = this.#response.progress ?? createProgress();
    this.#events = new EventWriter(this.#progress);
    this.#writer = new ResponseObject(this.#progress.model, context);
  }

  get #items(): string[] {
    return this.#progress.items;
  }

  encode(event: InferenceEvent): string {
    switch (event.type) {
      case 'start':
        return this.#encodeStart(event);
      case 'block_start':
        return this.#settle('completed') + this.#begin(event.block);
      case 'delta':
        this.#noteLength(event.delta);
        if (event.delta.type === 'text' && event.delta.text !== '') this.#hasText = true;
        return this.#open?.add(event.delta) ?? '';
      case 'block_stop':
        if (event.notes !== undefined) this.#open?.note?.(event.notes);
        return this.#open?.isWholeCall() === true ? this.#settle('completed') : '';
      case 'usage':
        return '';
      case 'finish':
        return this.#end(event) + this.#encodeFinish(event);
    }
  }

  readKept(finish: Finish): AnswerToKeep | undefined {
    const { wantsStore, previousId, requestId } = this.#response;
    if (!wantsStore) return undefined;
    this.#ending = this.#end(finish);
    const output = encodeKeptOutput(this.#items);
    const response = this.#writeEnd(finish, [], true);
    return { id: responseIdOf(requestId), previousId, output, response };
  }

  noteKept(isKept: boolean): void {
    this.#isKept = isKept;
  }

  /** Some clients know only the first event, others only the second. */
  encodeError(refusal: Refusal): string {
    const code = failureCodeOf(refusal);
    const { chatType: type } = REFUSALS[refusal.refusal];
    const { chatMessage: message, param } = refusal;
    const error = JSON.stringify({ type, code, message, param });
    const failed = {
      status: 'failed',
      output: this.#items,
      usage: undefined,
      error: { code, message },
    } as const;
    return (
      this.#events.write('error', `"error":${error}`) +
      this.#events.write('response.failed', `"response":${this.#writer.write(failed, false)}`)
    );
  }

  /** Comments do not reset every client's clock; an event does. */
  encodeSilence(): string {
    return this.#events.writeBare('keepalive');
  }

  #encodeStart({ model, usage }: EventOf<'start'>): string {
    this.#usageAtStart = usage;
    restart(this.#progress, model);
    this.#writer = new ResponseObject(model, this.#context);
    const begun = { status: 'in_progress', output: [], usage: undefined } as const;
    const response = this.#writer.write(begun, this.#response.wantsStore);
    return (
      this.#events.write('response.created', `"response":${response}`) +
      this.#events.write('response.in_progress', `"response":${response}`)
    );
  }

  #noteLength(delta: BlockDelta): void {
    this.#openChars += countChars(delta);
    if (this.#doneChars + this.#openChars > KEPT_CHARS_MAX) {
      throw oversizedAnswer('its end would repeat too much');
    }
  }

  #begin(block: BlockStart): string {
    this.#hasCall ||= block.type === 'tool_use';
    this.#open = this.#createItem(block);
    return this.#open.begin();
  }

  #place(prefix: Parameters<typeof itemIdOf>[0]) {
    const index = this.#items.length;
    return { events: this.#events, id: itemIdOf(prefix, this.#response.requestId, index), index };
  }

  #createItem(block: BlockStart): OpenItem {
    switch (block.type) {
      case 'text':
        return new OpenMessage(this.#place('msg'), block.isRefusal === true);
      case 'thinking':
      case 'redacted_thinking': {
        const redacted = block.type === 'redacted_thinking' ? block.data : undefined;
        return new ReasoningDraft(this.#place('rs'), redacted, this.#response.sealThought);
      }
      case 'tool_use': {
        const tool = toolOf(this.#response, block.name);
        return new OpenCall(this.#place(tool.isCustom ? 'ctc' : 'fc'), block.id, tool);
      }
    }
  }

  /** Ends the item that is open or held, if there is one. */
  #settle(status: 'completed' | 'incomplete'): string {
    const item = this.#open;
    this.#open = undefined;
    if (item?.hasBegun !== true) return '';
    const ending = item.end();
    const json = JSON.stringify(item.describe(status));
    const done = `"output_index":${this.#items.length},"item":${json}`;
    this.#items.push(json);
    this.#doneChars += json.length;
    this.#openChars = 0;
    return ending + this.#events.write('response.output_item.done', done);
  }

  /** Writes all that precedes the last event. */
  #end({ stopReason }: Finish): string {
    if (this.#ending !== undefined) return this.#ending;
    const isLong = isTooLong(stopReason);
    const isCut = isLong || stopReason === 'refusal';
    if (isCut && this.#open instanceof OpenCall && this.#open.isHalfCall()) {
      this.#items.push(JSON.stringify(this.#open.describe('incomplete')));
      this.#open = undefined;
    }
    const settled = this.#settle(isLong ? 'incomplete' : 'completed');
    const last = describeLast(stopReason, this.#hasText, this.#hasCall);
    return last === undefined ? settled : settled + this.#writeMessage(last);
  }

  /** Writes a message that the model did not begin. */
  #writeMessage({ text, isRefusal }: MessageText): string {
    const message = new OpenMessage(this.#place('msg'), isRefusal === true);
    this.#open = message;
    return message.open() + message.add({ type: 'text', text }) + this.#settle('completed');
  }

  #encodeFinish(finish: Finish): string {
    const type = isTooLong(finish.stopReason) ? 'response.incomplete' : 'response.completed';
    const response = this.#writeEnd(finish, this.#items, this.#isKept);
    return this.#events.write(type, `"response":${response}`);
  }

  #writeEnd(
    { stopReason, usage = this.#usageAtStart }: Finish,
    output: readonly string[],
    isStored: boolean,
  ): string {
    const status = isTooLong(stopReason) ? 'incomplete' : 'completed';
    return this.#writer.write({ status, output, usage }, isStored);
  }
}

function countChars(delta: BlockDelta): number {
  switch (delta.type) {
    case 'text':
      return delta.text.length;
    case 'thinking':
      return delta.thinking.length;
    case 'signature':
      return delta.signature.length;
    case 'input_json':
      return delta.json.length;
  }
}
