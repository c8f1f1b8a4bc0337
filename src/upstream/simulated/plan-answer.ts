import { findPricedTool } from '../../protocol/fields/check-fields.ts';
import type { InferenceCall, InferenceRequest, StopReason } from '../../protocol/inference.ts';
import { isObject } from '../../protocol/schema.ts';
import {
  announceCalls,
  composeReply,
  composeThought,
  composeTokens,
  cutToTokens,
} from './compose-text.ts';
import { generateAnyObject, generateValue } from './generating/generate-value.ts';
import type { Directives } from './parse-directives.ts';
import type { Random } from './random.ts';
import type { Conversation } from './read-conversation.ts';
import { splitTokens } from './split-tokens.ts';

/**
 * A block of an answer before it is emitted. Its tokens are pieces of a text, or of the JSON of an
 * input.
 */
export type BlockPlan =
  | { readonly type: 'thinking'; readonly tokens: readonly string[] }
  | { readonly type: 'text'; readonly tokens: readonly string[] }
  | { readonly type: 'tool_use'; readonly name: string; readonly tokens: readonly string[] };

export interface AnswerPlan {
  readonly blocks: readonly BlockPlan[];
  readonly stopReason: StopReason;
  readonly stopSequence: string | undefined;
}

interface CallPlan {
  readonly name: string;
  readonly input: unknown;
}

interface Material {
  readonly call: InferenceCall;
  readonly request: InferenceRequest;
  readonly directives: Directives;
  readonly conversation: Conversation;
  readonly random: Random;
}

/** The whole answer, before any limit of its length. */
export function planAnswer(material: Material): AnswerPlan {
  const { request, directives, conversation, random } = material;
  const calls = planCalls(request, directives, random);
  const blocks: BlockPlan[] = [];
  if (request.isThinking || directives.isThinking) {
    const budget = request.thinkingTokensMax ?? Number.POSITIVE_INFINITY;
    const thought = cutToTokens(composeThought(conversation), budget);
    blocks.push({ type: 'thinking', tokens: splitTokens(thought) });
  }
  const { text, stopSequence } = stopAt(request.stopSequences, planText(material, calls));
  if (text !== '') blocks.push({ type: 'text', tokens: splitTokens(text) });
  if (stopSequence !== undefined) return { blocks, stopReason: 'stop_sequence', stopSequence };
  for (const { name, input } of calls) {
    blocks.push({ type: 'tool_use', name, tokens: splitTokens(JSON.stringify(input)) });
  }
  return {
    blocks,
    stopReason: calls.length > 0 ? 'tool_use' : 'end_turn',
    stopSequence: undefined,
  };
}

/** The answer, cut to this many tokens. */
export function limitAnswer(answer: AnswerPlan, tokensMax: number): AnswerPlan {
  const blocks: BlockPlan[] = [];
  let left = tokensMax;
  for (const block of answer.blocks) {
    if (block.tokens.length > left) {
      if (left > 0) blocks.push({ ...block, tokens: block.tokens.slice(0, left) });
      return { blocks, stopReason: 'max_tokens', stopSequence: undefined };
    }
    blocks.push(block);
    left -= block.tokens.length;
  }
  return answer;
}

/** Real models write no text beside a call that they are forced to make. */
function planText(
  { call, request, directives, conversation, random }: Material,
  calls: readonly CallPlan[],
): string {
  const { outputSchema, toolChoice } = request;
  if (calls.length > 0) {
    const isForced = toolChoice?.type === 'any' || toolChoice?.type === 'tool';
    return isForced ? '' : announceCalls(calls.map(({ name }) => name));
  }
  if (outputSchema === true) return JSON.stringify(generateAnyObject(random));
  if (outputSchema !== undefined) return JSON.stringify(generateValue(outputSchema, random));
  if (directives.textTokens !== undefined) {
    // One token more than can be emitted shows that the answer was cut.
    return composeTokens(Math.min(directives.textTokens, call.outputTokensMax + 1), random);
  }
  return composeReply(call.model, conversation, random);
}

function planCalls(
  { tools, toolChoice }: InferenceRequest,
  directives: Directives,
  random: Random,
): CallPlan[] {
  if (toolChoice?.type === 'none') return [];
  const forced = toolChoice?.type === 'tool' ? toolChoice.name : undefined;
  const offered = tools.filter(
    (tool) => (forced === undefined || tool.name === forced) && findPricedTool(tool) === undefined,
  );
  const asked = directives.tools.filter(({ name }) => offered.some((tool) => tool.name === name));
  const first = offered.find(({ name }) => name !== undefined)?.name;
  const isForced = toolChoice?.type === 'any' || toolChoice?.type === 'tool';
  if (asked.length === 0 && isForced && first !== undefined) {
    asked.push({ name: first, input: undefined });
  }
  const isParallel = toolChoice?.disable_parallel_tool_use !== true;
  return asked.slice(0, isParallel ? undefined : 1).map(({ name, input }) => {
    const schema = offered.find((tool) => tool.name === name)?.input_schema;
    return { name, input: input ?? generateInput(schema, random) };
  });
}

/** Tools without a schema take an empty input. An input is an object, whatever its schema says. */
function generateInput(schema: object | undefined, random: Random): unknown {
  if (schema === undefined || Object.keys(schema).length === 0) return {};
  const input = generateValue({ ...schema, type: 'object' }, random);
  return isObject(input) ? input : {};
}

/** The text before the first of the sequences. */
function stopAt(sequences: readonly string[], text: string) {
  let end = text.length;
  let stopSequence: string | undefined;
  for (const sequence of sequences) {
    const index = sequence === '' ? -1 : text.indexOf(sequence);
    if (index === -1 || index >= end) continue;
    end = index;
    stopSequence = sequence;
  }
  return { text: text.slice(0, end), stopSequence };
}
