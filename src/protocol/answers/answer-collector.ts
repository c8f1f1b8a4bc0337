import type {
  BlockDelta,
  BlockStart,
  InferenceAnswer,
  InferenceEvent,
  OutputBlock,
  StopReason,
} from '../inference.ts';
import { keepInputText } from '../json/input-text.ts';
import { brokenAnswer } from '../json/upstream-json.ts';
import type { TextNotes } from '../responses/text-notes.ts';
import { isObject } from '../schema.ts';

/**
 * Collects the events of one answer. An answer that is not complete is refused as a failure of the
 * upstream.
 */
export interface AnswerCollector {
  add(event: InferenceEvent): void;
  finish(): InferenceAnswer;
}

/** For these reasons a model may stop anywhere, even between two braces of a tool's input. */
const CUTTING_REASONS: readonly StopReason[] = [
  'max_tokens',
  'model_context_window_exceeded',
  'refusal',
];

type EventOf<Type extends InferenceEvent['type']> = Extract<InferenceEvent, { type: Type }>;

interface OpenBlock {
  readonly index: number;
  readonly start: BlockStart;
  /** The text, the thinking, or the JSON of a tool's input. */
  body: string;
  signature: string;
}

interface ClosedBlock {
  readonly block: OutputBlock;
  /** Whether a tool's input ended before its JSON was complete. */
  readonly isCut: boolean;
}

export function createAnswerCollector(): AnswerCollector {
  const content: OutputBlock[] = [];
  let start: EventOf<'start'> | undefined;
  let open: OpenBlock | undefined;
  let isCut = false;
  let end: EventOf<'finish'> | undefined;

  const openBlock = (index: number, block: BlockStart): void => {
    if (open !== undefined || isCut || index !== content.length) {
      throw brokenAnswer(`block ${index} begins out of order`);
    }
    open = { index, start: block, body: '', signature: '' };
  };

  const findOpen = (index: number): OpenBlock => {
    if (open?.index !== index) throw brokenAnswer(`block ${index} is not open`);
    return open;
  };

  const addLast = (event: EventOf<'finish'>): void => {
    if (open !== undefined) throw brokenAnswer(`block ${open.index} has no end`);
    if (isCut && !CUTTING_REASONS.includes(event.stopReason)) {
      throw brokenAnswer("a tool's input is not a JSON object");
    }
    end = event;
  };

  const add = (event: InferenceEvent): void => {
    const isInPlace = end === undefined && (start === undefined) === (event.type === 'start');
    if (!isInPlace) throw brokenAnswer(`an event out of order: ${event.type}`);
    switch (event.type) {
      case 'start':
        start = event;
        break;
      case 'block_start':
        openBlock(event.index, event.block);
        break;
      case 'delta':
        addDelta(findOpen(event.index), event.delta);
        break;
      case 'block_stop': {
        const closed = closeBlock(findOpen(event.index), event.notes);
        content.push(closed.block);
        isCut = closed.isCut;
        open = undefined;
        break;
      }
      case 'usage':
        break;
      case 'finish':
        addLast(event);
    }
  };

  const finish = (): InferenceAnswer => {
    if (start === undefined || end === undefined) throw brokenAnswer('it has no end');
    const { id, model } = start;
    const { stopReason, stopSequence, usage = start.usage } = end;
    return { id, model, content, stopReason, stopSequence, usage };
  };

  return { add, finish };
}

function addDelta(open: OpenBlock, delta: BlockDelta): void {
  const kind = open.start.type;
  if (delta.type === 'text' && kind === 'text') open.body += delta.text;
  else if (delta.type === 'thinking' && kind === 'thinking') open.body += delta.thinking;
  else if (delta.type === 'signature' && kind === 'thinking') open.signature += delta.signature;
  else if (delta.type === 'input_json' && kind === 'tool_use') open.body += delta.json;
  else throw brokenAnswer(`${delta.type} in a block of ${kind}`);
}

function closeBlock(
  { start, body, signature }: OpenBlock,
  notes: TextNotes | undefined,
): ClosedBlock {
  switch (start.type) {
    case 'text':
      return { block: closeText(start, body, notes), isCut: false };
    case 'thinking':
      return { block: { type: 'thinking', thinking: body, signature }, isCut: false };
    case 'redacted_thinking':
      return { block: { type: 'redacted_thinking', data: start.data }, isCut: false };
    case 'tool_use': {
      const input = parseInput(body);
      const { id, name } = start;
      return {
        block: { type: 'tool_use', id, name, input: input ?? {} },
        isCut: input === undefined,
      };
    }
  }
}

function closeText(
  start: Extract<BlockStart, { type: 'text' }>,
  text: string,
  notes: TextNotes | undefined,
): OutputBlock {
  if (start.isRefusal === undefined && notes === undefined) return { type: 'text', text };
  return { ...start, text, ...(notes !== undefined && { notes }) };
}

/** An empty text means `{}`. Returns `undefined` if the text is not a JSON object. */
function parseInput(json: string): Readonly<Record<string, unknown>> | undefined {
  if (json === '') return {};
  try {
    const input: unknown = JSON.parse(json);
    return isObject(input) ? keepInputText(input, json) : undefined;
  } catch {
    return undefined;
  }
}
