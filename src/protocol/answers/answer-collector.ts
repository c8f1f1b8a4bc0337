import type {
  BlockDelta,
  BlockStart,
  InferenceAnswer,
  InferenceEvent,
  OutputBlock,
  StopReason,
} from '../inference.ts';
import { isWrapped, wrapInput } from '../json/input-text.ts';
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

export function createAnswerCollector(): AnswerCollector {
  const content: OutputBlock[] = [];
  let start: EventOf<'start'> | undefined;
  let open: OpenBlock | undefined;
  let end: EventOf<'finish'> | undefined;

  const openBlock = (index: number, block: BlockStart): void => {
    if (open !== undefined || index !== content.length) {
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
    if (CUTTING_REASONS.includes(event.stopReason)) dropCutInput(content);
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
      case 'block_stop':
        content.push(closeBlock(findOpen(event.index), event.notes));
        open = undefined;
        break;
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
): OutputBlock {
  switch (start.type) {
    case 'text':
      return closeText(start, body, notes);
    case 'thinking':
      return { type: 'thinking', thinking: body, signature };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: start.data };
    case 'tool_use': {
      const { id, name } = start;
      return { type: 'tool_use', id, name, input: parseToolInput(body) ?? wrapInput(body) };
    }
  }
}

/** A model that was stopped in the middle of a call has not said what its input is. */
function dropCutInput(content: OutputBlock[]): void {
  const last = content.at(-1);
  if (last?.type !== 'tool_use' || !isWrapped(last.input)) return;
  content[content.length - 1] = { ...last, input: {} };
}

function closeText(
  start: Extract<BlockStart, { type: 'text' }>,
  text: string,
  notes: TextNotes | undefined,
): OutputBlock {
  if (start.isRefusal === undefined && notes === undefined) return { type: 'text', text };
  return { ...start, text, ...(notes !== undefined && { notes }) };
}
