import type { AnswerContext, InferenceEvent } from '../inference.ts';
import { isObject } from '../schema.ts';
import { type Json, parseUpstreamJson, readObject, readText } from '../upstream-json.ts';
import { decodeChatPayload } from './decode-answer.ts';
import { encodeCompletionId } from './encode-completion-id.ts';
import { encodeUsage } from './encode-usage.ts';
import { FINISH_REASONS } from './finish-reasons.ts';

type EventOf<Type extends InferenceEvent['type']> = Extract<InferenceEvent, { type: Type }>;

/**
 * The events of a whole answer, and what a chat client gets to read: all of it, with what nobody here knows in
 * it. Where something has to be mended that clients break on, the answer is better written anew.
 */
export function relayChatAnswer(
  body: string,
  model: string,
  context: AnswerContext,
): { readonly events: readonly InferenceEvent[]; readonly text: string | undefined } {
  const answer = parseUpstreamJson(body);
  const events = decodeChatPayload(answer);
  const start = events.find((event) => event.type === 'start');
  const finish = events.find((event) => event.type === 'finish');
  const choice = findOnlyChoice(answer);
  const isGood = choice !== undefined && isWhole(readObject(choice, 'message'));
  if (!isGood || start === undefined || finish?.usage === undefined) {
    return { events, text: undefined };
  }
  return {
    events,
    text: JSON.stringify(rename(answer, choice, { start, finish, model, context })),
  };
}

interface Names {
  readonly start: EventOf<'start'>;
  readonly finish: EventOf<'finish'>;
  readonly model: string;
  readonly context: AnswerContext;
}

function rename(answer: Json, choice: Json, { start, finish, model, context }: Names): Json {
  const told = readObject(answer, 'usage');
  return {
    ...answer,
    id: encodeCompletionId(start.id),
    object: 'chat.completion',
    created: context.createdSeconds,
    model,
    choices: [{ ...choice, index: 0, finish_reason: FINISH_REASONS[finish.stopReason] }],
    usage: finish.usage === undefined ? told : { ...told, ...encodeUsage(finish.usage) },
  };
}

function findOnlyChoice({ choices }: Json): Json | undefined {
  if (!Array.isArray(choices) || choices.length !== 1) return undefined;
  const [choice] = choices;
  return isObject(choice) ? choice : undefined;
}

/** Nothing of it is missing or of another type than clients expect. */
function isWhole(message: Json): boolean {
  const { role, content, tool_calls: calls } = message;
  const hasText = typeof content === 'string' || content === null;
  return role === 'assistant' && hasText && (calls == null || isListOfCalls(calls));
}

function isListOfCalls(calls: unknown): boolean {
  return Array.isArray(calls) && calls.length > 0 && calls.every(isCall);
}

function isCall(call: unknown): boolean {
  if (!isObject(call) || call['type'] !== 'function') return false;
  const called = readObject(call, 'function');
  return [readText(call, 'id'), readText(called, 'name'), readText(called, 'arguments')].every(
    (text) => text !== undefined,
  );
}
