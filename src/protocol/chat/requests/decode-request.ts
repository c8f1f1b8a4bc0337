import { checkFields, knowFields } from '../../fields/check-fields.ts';
import { FIELD_RULES } from '../../fields/field-rules.ts';
import { unlessUnset } from '../../fields/or-unset.ts';
import { pickSchemaTerms } from '../../fields/pick-schema-terms.ts';
import type { DecodedRequest, HeaderSource } from '../../format.ts';
import type { InferenceRequest } from '../../inference.ts';
import { readBetas, wantsBetaContext } from '../../native/requests/decode-headers.ts';
import { Refusal } from '../../refusals.ts';
import { isObject, namesOf } from '../../schema.ts';
import type { ChatRequest, ResponseFormat } from './chat-request.ts';
import { decodeCacheControl } from './decode-content.ts';
import { decodeMessages } from './decode-messages.ts';
import { decodeTools } from './decode-tools.ts';
import { listUndecoded } from './list-undecoded.ts';
import { refuseField } from './refuse-field.ts';
import { chatRequestSchema } from './request-schema.ts';

export const CHAT_FIELDS = knowFields(namesOf(chatRequestSchema), FIELD_RULES);

export function decodeRequest(body: unknown, header: HeaderSource): DecodedRequest {
  const problem = chatRequestSchema.check(body);
  if (problem !== undefined) throw isForResponses(body) ? refuseInput() : refuseField(problem);
  const chat = body as ChatRequest;
  const unknownFields = checkFields(chat, CHAT_FIELDS, (field, message) => {
    throw refuseField({ path: field, kind: 'invalid', message });
  });

  const { system, messages, undecoded } = decodeMessages(chat);
  const format = chat.response_format;
  const endUser = chat.user || chat.safety_identifier;
  const request: InferenceRequest = {
    model: chat.model,
    isStream: chat.stream === true,
    system,
    messages,
    outputTokensMax: decodeOutputLimit(chat),
    temperature: chat.temperature ?? undefined,
    topP: chat.top_p ?? undefined,
    topK: undefined,
    stopSequences: decodeStop(chat.stop),
    ...decodeTools(chat),
    thinkingTokensMax: undefined,
    isThinking: false,
    outputSchema: decodeResponseFormat(format),
    schemaTerms: format?.type === 'json_schema' ? pickSchemaTerms(format.json_schema) : undefined,
    effort: typeof chat.reasoning_effort === 'string' ? chat.reasoning_effort : undefined,
    cacheControl: decodeCacheControl(chat.cache_control),
    isBetaContext: wantsBetaContext(header),
    betas: readBetas(header),
    passedOn: endUser ? { metadata: { user_id: endUser } } : {},
    passedOnToResponses: pickForResponses(chat),
    unknownFields,
    sentUndecoded: listUndecoded(chat, unknownFields, undecoded),
  };
  return { request, wantsStreamUsage: chat.stream_options?.include_usage === true };
}

function pickForResponses({ verbosity, prompt_cache_key }: ChatRequest) {
  if (verbosity == null && prompt_cache_key == null) return undefined;
  return { verbosity: verbosity ?? undefined, prompt_cache_key: prompt_cache_key ?? undefined };
}

/** Some clients send such bodies to every address that they are given. */
function isForResponses(body: unknown): boolean {
  return isObject(body) && body['input'] != null && body['messages'] == null;
}

function refuseInput(): Refusal {
  const message =
    "Missing required parameter: 'messages'. A body with 'input' belongs to POST /v1/responses.";
  return new Refusal('missing_field', message, { param: 'messages' });
}

/** Takes the smaller one of two limits: whichever field an upstream knows, its limit is kept. */
function decodeOutputLimit(chat: ChatRequest): number | undefined {
  const limits = [chat.max_completion_tokens, chat.max_tokens]
    .map(unlessUnset)
    .filter((limit) => limit !== undefined);
  return limits.length === 0 ? undefined : Math.min(...limits);
}

function decodeStop(stop: ChatRequest['stop']): readonly string[] {
  const sequences = typeof stop === 'string' ? [stop] : (stop ?? []);
  return sequences.filter((sequence) => sequence !== '');
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
