import type { DecodedRequest, HeaderSource } from '../format.ts';
import type { InferenceRequest } from '../inference.ts';
import { readBetas, wantsBetaContext } from '../native/decode-headers.ts';
import type { ChatRequest, ResponseFormat } from './chat-request.ts';
import { isBlank } from './decode-content.ts';
import { decodeMessages } from './decode-messages.ts';
import { decodeTools } from './decode-tools.ts';
import { refuseField } from './refuse-field.ts';
import { chatRequestSchema } from './request-schema.ts';

/** Chat knows twice the range; above the native one there is nothing but its end. */
const TEMPERATURE_MAX = 1;

/** What another chat upstream understands as it is, and better than what the native format makes of it. */
export const FIELDS_FOR_CHAT = [
  'temperature',
  'response_format',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'seed',
  'reasoning_effort',
  'verbosity',
  'prediction',
  'prompt_cache_key',
];

export function decodeRequest(body: unknown, header: HeaderSource): DecodedRequest {
  const problem = chatRequestSchema.check(body);
  if (problem !== undefined) throw refuseField(problem);
  const chat = body as ChatRequest;

  const { system, messages } = decodeMessages(chat.messages);
  if (messages.length === 0) {
    const message = 'At least one message should be of a user or an assistant, and say something';
    throw refuseField({ path: 'messages', kind: 'invalid', message });
  }
  const { temperature } = chat;
  const endUser = chat.user ?? chat.safety_identifier;
  const request: InferenceRequest = {
    model: chat.model,
    isStream: chat.stream === true,
    system,
    messages,
    outputTokensMax: chat.max_completion_tokens ?? chat.max_tokens ?? undefined,
    temperature:
      typeof temperature === 'number' ? Math.min(temperature, TEMPERATURE_MAX) : undefined,
    topP: chat.top_p ?? undefined,
    topK: undefined,
    stopSequences: decodeStop(chat.stop),
    ...decodeTools(chat),
    thinkingTokensMax: undefined,
    isThinking: false,
    outputSchema: decodeResponseFormat(chat.response_format),
    cacheControl: undefined,
    isBetaContext: wantsBetaContext(header),
    betas: readBetas(header),
    passedOn: endUser ? { metadata: { user_id: endUser } } : {},
    passedOnToChat: pickFields(chat, FIELDS_FOR_CHAT),
  };
  return { request, wantsStreamUsage: chat.stream_options?.include_usage === true };
}

function pickFields(
  chat: ChatRequest,
  names: readonly string[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(chat).filter(([name, value]) => names.includes(name) && value !== null),
  );
}

function decodeStop(stop: ChatRequest['stop']): readonly string[] {
  const sequences = typeof stop === 'string' ? [stop] : (stop ?? []);
  return sequences.filter((sequence) => !isBlank(sequence));
}

function decodeResponseFormat(
  format: ResponseFormat | null | undefined,
): InferenceRequest['outputSchema'] {
  switch (format?.type) {
    case 'json_object':
      return true;
    case 'json_schema':
      return format.json_schema.schema ?? true;
    default:
      return undefined;
  }
}
