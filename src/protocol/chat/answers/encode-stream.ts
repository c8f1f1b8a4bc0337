import type { StreamEncoder } from '../../format.ts';
import type {
  AnswerContext,
  BlockDelta,
  BlockStart,
  InferenceEvent,
  Usage,
} from '../../inference.ts';
import { NO_USAGE } from '../../native/answers/decode-usage.ts';
import { encodeRefusal } from '../encode-refusal.ts';
import { encodeCompletionId } from './encode-completion-id.ts';
import { encodeUsage } from './encode-usage.ts';
import { FINISH_REASONS, type FinishReason } from './finish-reasons.ts';

type EventOf<Type extends InferenceEvent['type']> = Extract<InferenceEvent, { type: Type }>;

const DONE = 'data: [DONE]\n\n';

/** The part of a chunk that one event is good for; `undefined` is not worth a chunk. */
type Delta = Readonly<Record<string, unknown>> | undefined;

export function createStreamEncoder(context: AnswerContext): StreamEncoder {
  // Every chunk of a stream begins and ends the same, so those two are written once.
  let head = '';
  let usageAtStart = NO_USAGE;
  const tail = encodeTail(context);
  const encodeSome = (delta: Delta): string =>
    delta === undefined ? '' : encodeChunk(head, tail, delta, null);
  const tools = createToolDeltas();

  /** Most events are texts: to write only those anew takes a quarter of the time. */
  const encodeSaid = (name: 'content' | 'reasoning_content', said: string): string =>
    said === ''
      ? ''
      : `${head}[{"index":0,"delta":{"${name}":${JSON.stringify(said)}},"logprobs":null,"finish_reason":null}]${tail}`;

  /** Signatures and redacted thoughts have no place in this format. */
  const encodeDelta = (delta: BlockDelta): string => {
    switch (delta.type) {
      case 'text':
        return encodeSaid('content', delta.text);
      case 'thinking':
        return encodeSaid('reasoning_content', delta.thinking);
      case 'input_json':
        return encodeSome(tools.add(delta.json));
      case 'signature':
        return '';
    }
  };

  const encodeStart = ({ id, model, usage }: EventOf<'start'>): string => {
    usageAtStart = usage;
    head = encodeHead({ id, model }, context);
    return encodeBeginning(head, context);
  };

  return {
    encode(event) {
      switch (event.type) {
        case 'start':
          return encodeStart(event);
        case 'block_start':
          return encodeSome(tools.start(event.block));
        case 'delta':
          return encodeDelta(event.delta);
        case 'block_stop':
          return encodeSome(tools.stop());
        case 'usage':
          return '';
        case 'finish':
          return encodeEnd(head, event, event.usage ?? usageAtStart, context);
      }
    },
    encodeError: (refusal, requestId) => `data: ${encodeRefusal(refusal, requestId)}\n\n`,
    encodeSilence: () => ': keepalive\n\n',
  };
}

/** The beginning of a chunk, up to the list of its choices. */
export function encodeHead(
  { id, model }: Pick<EventOf<'start'>, 'id' | 'model'>,
  { createdSeconds }: AnswerContext,
): string {
  const fields = {
    id: encodeCompletionId(id),
    object: 'chat.completion.chunk',
    created: createdSeconds,
    model,
  };
  return `data: ${JSON.stringify(fields).slice(0, -1)},"choices":`;
}

/** The chunk that says whose message it is. */
export function encodeBeginning(head: string, context: AnswerContext): string {
  return encodeChunk(head, encodeTail(context), { role: 'assistant' }, null);
}

/** The reason, the usage for those who asked for it, and the terminator. */
export function encodeEnd(
  head: string,
  { stopReason }: Pick<EventOf<'finish'>, 'stopReason'>,
  usage: Usage,
  context: AnswerContext,
): string {
  const last = encodeChunk(head, encodeTail(context), {}, FINISH_REASONS[stopReason]);
  if (!context.wantsStreamUsage) return last + DONE;
  return `${last}${head}[],"usage":${JSON.stringify(encodeUsage(usage))}}\n\n${DONE}`;
}

function encodeChunk(
  head: string,
  tail: string,
  delta: NonNullable<Delta>,
  finishReason: FinishReason | null,
): string {
  const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason };
  return `${head}[${JSON.stringify(choice)}]${tail}`;
}

/** The end of a chunk, behind that list. */
export function encodeTail({ wantsStreamUsage }: AnswerContext): string {
  return wantsStreamUsage ? ',"usage":null}\n\n' : '}\n\n';
}

/** Calls are counted among themselves; the numbers of the blocks count the text between them too. */
function createToolDeltas() {
  let index = -1;
  let isWithoutInput = false;

  const encodeArguments = (json: string): Delta => {
    isWithoutInput = false;
    return { tool_calls: [{ index, function: { arguments: json } }] };
  };

  return {
    start(block: BlockStart): Delta {
      if (block.type !== 'tool_use') return undefined;
      index += 1;
      isWithoutInput = true;
      const { id, name } = block;
      return { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] };
    },
    add: (json: string): Delta => (json === '' ? undefined : encodeArguments(json)),
    /** Clients parse the arguments as JSON, and nothing is none. */
    stop: (): Delta => (isWithoutInput ? encodeArguments('{}') : undefined),
  };
}
