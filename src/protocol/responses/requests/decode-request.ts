import { refuseField } from '../../chat/requests/refuse-field.ts';
import { checkFields, knowFields } from '../../fields/check-fields.ts';
import { FIELD_RULES, RESPONSES_RULES } from '../../fields/field-rules.ts';
import { pickSchemaTerms } from '../../fields/pick-schema-terms.ts';
import type { DecodeAids, DecodedRequest, HeaderSource } from '../../format.ts';
import type { InferenceRequest } from '../../inference.ts';
import { readBetas, wantsBetaContext } from '../../native/requests/decode-headers.ts';
import { namesOf } from '../../schema.ts';
import { type ResponseItem, refusePrevious } from '../references.ts';
import { decodeInput } from './decode-input.ts';
import { decodeTools } from './decode-tools.ts';
import { describeTerms } from './describe-terms.ts';
import { listUndecoded } from './list-undecoded.ts';
import { kindOfItem, responsesRequestSchema } from './request-schema.ts';
import type { InputTools, ResponsesRequest } from './responses-request.ts';
import { ToolBook } from './tool-book.ts';

const OWN_NAMES = namesOf(responsesRequestSchema);

/** The fields that other formats refuse or drop, but that are this format's own. */
export const RESPONSES_FIELDS = knowFields(OWN_NAMES, [
  ...FIELD_RULES.filter(({ field }) => !OWN_NAMES.includes(field)),
  ...RESPONSES_RULES,
]);

export function decodeRequest(
  value: unknown,
  header: HeaderSource,
  aids: DecodeAids = {},
): DecodedRequest {
  const problem = responsesRequestSchema.check(value);
  if (problem !== undefined) throw refuseField(problem);
  const body = value as ResponsesRequest;
  const unknownFields = checkFields(body, RESPONSES_FIELDS, (field, message) => {
    throw refuseField({ path: field, kind: 'invalid', message });
  });
  if (body.input == null) throw refuseField({ path: 'input', kind: 'missing', message: '' });
  if (body.previous_response_id != null && aids.isResolved !== true) {
    throw refusePrevious(body.previous_response_id);
  }

  const book = new ToolBook();
  book.add(body.tools ?? []);
  addMoreTools(body, book);
  const { system, messages, undecoded } = decodeInput(body, book, aids.openThought);
  const { tools, toolChoice, unoffered } = decodeTools(body, book);
  const effort = body.reasoning?.effort ?? undefined;
  const thinks = effort !== undefined && effort !== 'none';
  const format = body.text?.format;
  const endUser = body.safety_identifier || body.user;
  const request: InferenceRequest = {
    model: body.model,
    isStream: body.stream === true,
    system,
    messages,
    outputTokensMax: body.max_output_tokens ?? undefined,
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    topK: undefined,
    stopSequences: [],
    tools,
    toolChoice,
    thinkingTokensMax: undefined,
    isThinking: thinks && toolChoice?.type !== 'any' && toolChoice?.type !== 'tool',
    outputSchema: decodeTextFormat(format),
    schemaTerms: format?.type === 'json_schema' ? pickSchemaTerms(format) : undefined,
    effort,
    // With this key, clients say that they will send the same beginning again.
    cacheControl: body.prompt_cache_key == null ? undefined : { type: 'ephemeral' },
    isBetaContext: wantsBetaContext(header),
    betas: readBetas(header),
    passedOn: endUser ? { metadata: { user_id: endUser } } : {},
    passedOnToChat: pickForChat(body),
    adaptiveThinking: thinks ? describeThinking(body) : undefined,
    unknownFields,
    sentUndecoded: listUndecoded(body, unknownFields, [...unoffered, ...undecoded]),
  };
  return {
    request,
    wantsStreamUsage: true,
    response: describeTerms(body, book),
    newItems: body.store === false ? undefined : listItems(body.input),
  };
}

function listItems(input: ResponsesRequest['input']): readonly ResponseItem[] {
  if (typeof input !== 'string') return input ?? [];
  return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }];
}

/** What chat clients can say as well, and what costs nothing. */
function pickForChat(body: ResponsesRequest): Readonly<Record<string, unknown>> {
  return {
    verbosity: body.text?.verbosity ?? undefined,
    prompt_cache_key: body.prompt_cache_key ?? undefined,
    presence_penalty: body['presence_penalty'] ?? undefined,
    frequency_penalty: body['frequency_penalty'] ?? undefined,
  };
}

function describeThinking({ reasoning }: ResponsesRequest) {
  return { type: 'adaptive', ...(reasoning?.summary != null && { display: 'summarized' }) };
}

/** Tools may also come in the middle of a conversation. */
function addMoreTools({ input }: ResponsesRequest, book: ToolBook): void {
  if (typeof input !== 'object' || input === null) return;
  for (const item of input) {
    if (kindOfItem(item) === 'additional_tools') book.add((item as InputTools).tools ?? []);
  }
}

function decodeTextFormat(
  format: NonNullable<ResponsesRequest['text']>['format'],
): InferenceRequest['outputSchema'] {
  switch (format?.type) {
    case 'json_object':
      return true;
    case 'json_schema':
      return format.schema ?? true;
    default:
      return undefined;
  }
}
