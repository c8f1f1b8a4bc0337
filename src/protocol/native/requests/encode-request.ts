import { isBlank } from '../../fields/is-blank.ts';
import { wantsNoThinking } from '../../fields/wants-no-thinking.ts';
import type { InferenceRequest, Message } from '../../inference.ts';
import { readObject } from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';
import type { UpstreamCall, UpstreamCallOutline } from '../../upstream-call.ts';
import { sharesBudget } from './decode-headers.ts';
import { dropThinkingEdits } from './drop-thinking-edits.ts';
import { fitSchema } from './fit-schema.ts';
import { beginsWithThought, dropTurnThoughts, hasThoughts, lacksThoughts } from './has-thoughts.ts';
import { mendMessages } from './mend-messages.ts';
import { THINKING_TOKENS_MIN } from './request-schema.ts';
import { sayAsUser } from './say-as-user.ts';
import { writeConversation } from './write-conversation.ts';

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'];
/** How much of the output is for thinking, for models that know a budget and no effort. */
const BUDGET_SHARES: Readonly<Record<string, number>> = {
  ...{ minimal: 0.1, low: 0.2, medium: 0.5 },
  ...{ high: 0.8, xhigh: 0.9, max: 0.9 },
};
/** Other formats allow up to 2. */
const TEMPERATURE_MAX = 1;
/** With thinking, models take no lower value. */
const THINKING_TOP_P_MIN = 0.95;

/** Stands for `json_object` of the chat format, for which the native format has no field. */
const JSON_INSTRUCTION = 'Answer with one JSON object and nothing else.';

/** Writes the body for an upstream of the native format. Native content stays as it came. */
export function encodeNativeRequest(call: UpstreamCall, vendorModel: string): string {
  const { request, outputTokensMax, isStream } = call;
  const said = takesSystem(call) ? request.messages : sayAsUser(request.messages);
  const mended = mendMessages(said, call.reasoning?.open);
  const { added, asked } = askToThink(call, mended);
  const isCarried = call.source !== undefined && mended === request.messages;
  const switched = asked === undefined && switchOffThinking(call, isCarried ? [] : mended);
  const thinking = switched || asked;
  const isMissed = thinking === undefined && missesThinking(call);
  const messages = isMissed ? dropTurnThoughts(mended) : mended;
  const others = JSON.stringify({
    ...(call.dropsUnknown === true
      ? omit(request.passedOn, request.unknownFields)
      : request.passedOn),
    model: vendorModel,
    max_tokens: outputTokensMax,
    system: encodeSystem(request),
    stream: isStream,
    ...encodeSampling(call, added !== undefined),
    // Native models refuse to stop at white space, which other formats allow.
    stop_sequences: unlessEmpty(request.stopSequences.filter((text) => !isBlank(text))),
    tools: unlessEmpty(request.tools),
    tool_choice: request.toolChoice,
    cache_control: request.cacheControl,
    thinking,
    ...(asked === undefined && encodeThoughtless(request.passedOn)),
    output_config: encodeOutputConfig(call, Boolean(switched)),
  });
  return `${others.slice(0, -1)},"messages":${writeConversation(messages)}}`;
}

/** What the request says about thinking, and the part that its client cannot say itself. */
function askToThink(call: UpstreamCall, messages: readonly Message[]) {
  const added = addThinking(call);
  const asked = added ?? fitThinking(call);
  // A native client whose messages stay as they are knows what it may ask for.
  const isOwn = added === undefined && messages === call.request.messages;
  return isOwn || mayThink(call, asked, messages)
    ? { added, asked }
    : { added: undefined, asked: undefined };
}

/**
 * Whether the model may keep thinking. Stopping in the middle of a turn would break its cache.
 * With adaptive thinking, nothing has to begin with a thought; only models that can be told not
 * to think may refuse calls without one.
 */
function mayThink({ accepts }: UpstreamCall, asked: unknown, messages: readonly Message[]) {
  if (accepts?.has('no_thinking') === true) return hasThoughts(messages);
  return (isObject(asked) && asked['type'] === 'adaptive') || beginsWithThought(messages);
}

/**
 * Whether the client asks for thinking. Models that can be told not to think may still want their
 * thoughts back.
 */
function missesThinking({ request, accepts }: UpstreamCall): boolean {
  if (accepts?.has('no_thinking') === true) return false;
  return request.adaptiveThinking !== undefined || request.passedOn['thinking'] != null;
}

/**
 * Models that think unless told otherwise refuse calls that came without their thoughts. Others
 * refuse to be told, so the upstream's settings decide.
 */
function switchOffThinking({ request, accepts }: UpstreamCall, messages: readonly Message[]) {
  const { thinking } = request.passedOn;
  if (isObject(thinking) && thinking['type'] === 'disabled') return thinking;
  if (accepts?.has('no_thinking') !== true) return undefined;
  const isOff = thinking != null || wantsNoThinking(request) || lacksThoughts(messages);
  return isOff ? { type: 'disabled' } : undefined;
}

/** What changes in a request whose thinking is left out. */
function encodeThoughtless({ thinking, context_management: edited }: InferenceRequest['passedOn']) {
  return thinking == null ? undefined : { context_management: dropThinkingEdits(edited) };
}

/** Whether the model takes system messages among the others, and not only before them. */
export function takesSystem({ accepts }: Pick<UpstreamCallOutline, 'accepts'>): boolean {
  return accepts?.has('system_messages') === true;
}

function omit(
  fields: InferenceRequest['passedOn'],
  names: readonly string[],
): InferenceRequest['passedOn'] {
  const left = { ...fields };
  for (const name of names) Reflect.deleteProperty(left, name);
  return left;
}

function unlessEmpty<Item>(items: readonly Item[]): readonly Item[] | undefined {
  return items.length > 0 ? items : undefined;
}

function encodeSystem({ system, outputSchema }: InferenceRequest): InferenceRequest['system'] {
  if (outputSchema !== true) return system;
  if (system === undefined) return JSON_INSTRUCTION;
  if (typeof system === 'string') return `${system}\n${JSON_INSTRUCTION}`;
  return [...system, { type: 'text', text: JSON_INSTRUCTION }];
}

/**
 * For a client of a format that asks for an effort, not for thinking. A model that has to call a
 * tool must not think.
 */
function addThinking({ request, outputTokensMax, accepts }: UpstreamCall): unknown {
  const { adaptiveThinking, effort, toolChoice } = request;
  if (toolChoice?.type === 'any' || toolChoice?.type === 'tool') return undefined;
  if (adaptiveThinking === undefined || accepts?.has('effort') === true) return adaptiveThinking;
  if (effort === undefined || !Object.hasOwn(BUDGET_SHARES, effort)) return undefined;
  const share = BUDGET_SHARES[effort] ?? 0;
  const budget = Math.max(Math.floor(outputTokensMax * share), THINKING_TOKENS_MIN);
  return budget < outputTokensMax ? { type: 'enabled', budget_tokens: budget } : undefined;
}

function capTemperature(temperature: number | undefined): number | undefined {
  return temperature === undefined ? undefined : Math.min(temperature, TEMPERATURE_MAX);
}

/**
 * Clients of other formats often send both temperature and top_p, of which many models take only
 * one. What a native client sends is sent on as it came.
 */
function encodeSampling({ request, source, dropsSampling }: UpstreamCall, addsThinking: boolean) {
  const { temperature, topP, topK } = request;
  if (dropsSampling === true) return undefined;
  // With thinking, a model takes no other temperature than its own.
  if (addsThinking) return { top_p: raiseTopP(topP), top_k: topK };
  const isOneEnough = source === undefined && temperature !== undefined;
  return {
    temperature: capTemperature(temperature),
    top_p: isOneEnough ? undefined : topP,
    top_k: topK,
  };
}

function raiseTopP(topP: number | undefined): number | undefined {
  return topP === undefined ? undefined : Math.max(topP, THINKING_TOP_P_MIN);
}

/**
 * Thinking is part of the output. If the output was cut, thinking keeps its share of it, or is
 * dropped if the share is too small.
 */
export function fitThinking({ request, outputTokensMax }: UpstreamCallOutline): unknown {
  const { thinking } = request.passedOn;
  const { thinkingTokensMax: budget, outputTokensMax: asked } = request;
  if (!isObject(thinking) || budget === undefined || asked === undefined) return thinking;
  if (budget < outputTokensMax || sharesBudget(request.betas, request.tools)) return thinking;
  const share = Math.floor((budget * outputTokensMax) / asked);
  const fitted = Math.max(share, THINKING_TOKENS_MIN);
  return fitted < outputTokensMax ? { ...thinking, budget_tokens: fitted } : undefined;
}

/** A native client's own settings win over what is added here. */
function encodeOutputConfig({ request, accepts }: UpstreamCall, isSwitchedOff: boolean): unknown {
  const { outputSchema, passedOn } = request;
  const given = passedOn['output_config'];
  // Some vendors refuse an effort beside thinking that is switched off.
  const config = isSwitchedOff && isObject(given) ? omit(given, ['effort']) : given;
  const isNative =
    passedOn['output_format'] != null || readObject(passedOn, 'output_config')['format'] != null;
  const hasSchema = isObject(outputSchema) && !isNative;
  const format = hasSchema ? { type: 'json_schema', schema: fitSchema(outputSchema) } : undefined;
  const takesEffort = accepts?.has('effort') === true && !isSwitchedOff;
  const effort = takesEffort ? encodeEffort(request.effort) : undefined;
  if (format === undefined && effort === undefined) return config;
  return { format, effort, ...(isObject(config) && config) };
}

/** The chat format's `minimal` is less than `low`, the lowest effort here. */
function encodeEffort(effort: string | undefined): string | undefined {
  if (effort === 'minimal') return 'low';
  return EFFORTS.find((known) => known === effort);
}
