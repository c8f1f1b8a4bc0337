import type {
  BlockDelta,
  BlockStart,
  InferenceAnswer,
  InferenceEvent,
  OutputBlock,
  StopReason,
} from '../inference.ts';
import { wrapInput } from '../json/input-text.ts';
import { parseToolInput } from '../json/parse-arguments.ts';
import { brokenAnswer } from '../json/upstream-json.ts';
import type { TextNotes } from '../responses/text-notes.ts';

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

interface BrokenCall {
  readonly id: string;
  readonly name: string;
  readonly json: string;
}

interface ClosedBlock {
  readonly block: OutputBlock;
  /** The call of a tool whose input is no JSON object, or not the whole of one. */
  readonly broken?: BrokenCall;
}

export function createAnswerCollector(): AnswerCollector {
  const content: OutputBlock[] = [];
  let start: EventOf<'start'> | undefined;
  let open: OpenBlock | undefined;
  let broken: BrokenCall | undefined;
  let end: EventOf<'finish'> | undefined;

  /** The model has gone on: it was not cut, and wrote the input so. */
  const keepBroken = (): void => {
    if (broken === undefined) return;
    const { id, name, json } = broken;
    content[content.length - 1] = { type: 'tool_use', id, name, input: wrapInput(json) };
    broken = undefined;
  };

  const openBlock = (index: number, block: BlockStart): void => {
    if (open !== undefined || index !== content.length) {
      throw brokenAnswer(`block ${index} begins out of order`);
    }
    keepBroken();
    open = { index, start: block, body: '', signature: '' };
  };

  const findOpen = (index: number): OpenBlock => {
    if (open?.index !== index) throw brokenAnswer(`block ${index} is not open`);
    return open;
  };

  const addLast = (event: EventOf<'finish'>): void => {
    if (open !== undefined) throw brokenAnswer(`block ${open.index} has no end`);
    if (!CUTTING_REASONS.includes(event.stopReason)) keepBroken();
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
        broken = closed.broken;
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
      return { block: closeText(start, body, notes) };
    case 'thinking':
      return { block: { type: 'thinking', thinking: body, signature } };
    case 'redacted_thinking':
      return { block: { type: 'redacted_thinking', data: start.data } };
    case 'tool_use': {
      const input = parseToolInput(body);
      const { id, name } = start;
      const block: OutputBlock = { type: 'tool_use', id, name, input: input ?? {} };
      return input === undefined ? { block, broken: { id, name, json: body } } : { block };
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
