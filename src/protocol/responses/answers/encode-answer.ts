import type { AnswerContext, InferenceAnswer, OutputBlock, StopReason } from '../../inference.ts';
import { writeArguments } from '../../json/input-text.ts';
import { encodeKeptOutput } from '../encode-kept-output.ts';
import type { AnswerToKeep, ResponseItem } from '../references.ts';
import type { ResponseContext } from '../response-context.ts';
import { readCustomInput } from './custom-input.ts';
import {
  type ItemStatus,
  type MessageText,
  REFUSAL_TEXT,
  writeCall,
  writeMessage,
  writeReasoning,
} from './output-items.ts';
import {
  itemIdOf,
  ResponseObject,
  responseContextOf,
  responseIdOf,
  toolOf,
} from './response-object.ts';

export function encodeAnswer(answer: InferenceAnswer, context: AnswerContext): string {
  const { isKept = false } = responseContextOf(context);
  return writeResponse(answer, writeItems(answer, context), context, isKept);
}

/** Undefined if the client does not want the answer to be kept. */
export function describeAnswer(
  answer: InferenceAnswer,
  context: AnswerContext,
): AnswerToKeep | undefined {
  const { wantsStore, previousId, requestId } = responseContextOf(context);
  if (!wantsStore) return undefined;
  return {
    id: responseIdOf(requestId),
    previousId,
    output: encodeKeptOutput(writeItems(answer, context)),
    response: writeResponse(answer, [], context, true),
  };
}

/** Whether an answer ended because it was too long. */
export function isTooLong(reason: StopReason): boolean {
  return reason === 'max_tokens' || reason === 'model_context_window_exceeded';
}

/**
 * Describes the message that ends an answer without words. Some clients ask again for an answer
 * that has neither a message nor a call, so one that is complete has an empty message at least.
 */
export function describeLast(
  reason: StopReason,
  hasText: boolean,
  hasCall: boolean,
): MessageText | undefined {
  if (hasText || isTooLong(reason)) return undefined;
  if (reason === 'refusal') return { text: REFUSAL_TEXT, isRefusal: true };
  return hasCall ? undefined : { text: '' };
}

function writeResponse(
  { model, stopReason, usage }: InferenceAnswer,
  output: readonly string[],
  context: AnswerContext,
  isStored: boolean,
): string {
  const status = isTooLong(stopReason) ? 'incomplete' : 'completed';
  return new ResponseObject(model, context).write({ status, output, usage }, isStored);
}

/** Each as JSON. */
function writeItems({ content, stopReason }: InferenceAnswer, context: AnswerContext): string[] {
  const response = responseContextOf(context);
  const said = content.filter((block) => block.type !== 'text' || block.text !== '');
  const items = said.map((block, index) => {
    const isCut = block === content.at(-1) && isCutBy(stopReason, block);
    return writeItem(block, index, isCut ? 'incomplete' : 'completed', response);
  });
  const has = (type: OutputBlock['type']) => said.some((block) => block.type === type);
  const last = describeLast(stopReason, has('text'), has('tool_use'));
  if (last !== undefined) {
    items.push(writeMessage(itemIdOf('msg', response.requestId, items.length), 'completed', last));
  }
  return items.map((item) => JSON.stringify(item));
}

/** A refusal may come in the middle of a call. Nothing but the name of the call is then left. */
function isCutBy(reason: StopReason, block: OutputBlock): boolean {
  if (block.type !== 'tool_use') return isTooLong(reason);
  const isHalf = Object.keys(block.input).length === 0;
  return isHalf && (isTooLong(reason) || reason === 'refusal');
}

function writeItem(
  block: OutputBlock,
  index: number,
  status: ItemStatus,
  response: ResponseContext,
): ResponseItem {
  const idOf = (prefix: Parameters<typeof itemIdOf>[0]) =>
    itemIdOf(prefix, response.requestId, index);
  switch (block.type) {
    case 'text':
      return writeMessage(idOf('msg'), status, block);
    case 'thinking':
    case 'redacted_thinking': {
      const thinking = block.type === 'thinking' ? block.thinking : '';
      const sealed = response.sealThought?.(block);
      return writeReasoning(idOf('rs'), status, { thinking, sealed });
    }
    case 'tool_use': {
      const tool = toolOf(response, block.name);
      const input = tool.isCustom ? readCustomInput(block.input) : writeArguments(block.input);
      const call = { callId: block.id, tool, input };
      return writeCall(idOf(tool.isCustom ? 'ctc' : 'fc'), status, call);
    }
  }
}
