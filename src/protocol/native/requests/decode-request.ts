import { checkFields, isDropped, knowFields } from '../../fields/check-fields.ts';
import { FIELD_RULES, NATIVE_RULES } from '../../fields/field-rules.ts';
import { unlessUnset } from '../../fields/or-unset.ts';
import type { DecodedRequest, HeaderSource } from '../../format.ts';
import type { InferenceRequest } from '../../inference.ts';
import { Refusal } from '../../refusals.ts';
import { isObject, namesOf } from '../../schema.ts';
import { checkKinds } from './check-kinds.ts';
import { checkRequest } from './check-request.ts';
import { checkVersion, readBetas, wantsBetaContext } from './decode-headers.ts';
import { isThinkingOn, type NativeRequest } from './native-request.ts';
import { nativeRequestSchema } from './request-schema.ts';

/** The fields that are read from a body. Its other fields are passed on. */
const READ_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'max_tokens',
  'system',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'tools',
  'tool_choice',
  'cache_control',
]);

export const NATIVE_FIELDS = knowFields(namesOf(nativeRequestSchema), [
  ...FIELD_RULES,
  ...NATIVE_RULES,
]);

/** Asks a client of message threads to send the whole conversation instead. */
const THREAD_DETAILS = { error_code: 'thread_unsupported_request', unsupported: ['thread'] };

const NO_FIELDS = Object.freeze({});
const NO_ITEMS: readonly never[] = Object.freeze([]);

export function decodeRequest(body: unknown, header: HeaderSource): DecodedRequest {
  checkVersion(header);
  checkSchema(body);
  const unknownNames = checkFields(body, NATIVE_FIELDS, refuseField);
  const unknownKinds = checkKinds(body);
  const betas = readBetas(header);
  checkRequest(body, betas);
  const unknownFields = unknownKinds.length > 0 ? [...unknownNames, ...unknownKinds] : unknownNames;
  const request = toInference(
    body,
    { isBetaContext: wantsBetaContext(header), betas },
    unknownFields,
  );
  // Native streams always report their usage.
  return { request, wantsStreamUsage: true };
}

function refuseField(field: string, message: string): never {
  const details = field === 'thread' ? { nativeDetails: THREAD_DETAILS } : {};
  throw new Refusal('invalid_request', `${field}: ${message}`, { param: field, ...details });
}

function checkSchema(body: unknown): asserts body is NativeRequest {
  const problem = nativeRequestSchema.check(body);
  if (problem === undefined) return;
  const { path, kind, message } = problem;
  throw new Refusal(
    kind === 'missing' ? 'missing_field' : 'invalid_request',
    path === '' ? message : `${path}: ${message}`,
    { param: path },
  );
}

function toInference(
  body: NativeRequest,
  asked: Pick<InferenceRequest, 'isBetaContext' | 'betas'>,
  unknownFields: readonly string[],
): InferenceRequest {
  const schema = (body.output_config?.format ?? body.output_format)?.schema;
  return {
    model: body.model,
    isStream: body.stream ?? false,
    system: body.system ?? undefined,
    messages: body.messages,
    outputTokensMax: body.max_tokens,
    temperature: body.temperature ?? undefined,
    topP: unlessUnset(body.top_p),
    topK: unlessUnset(body.top_k),
    stopSequences: body.stop_sequences ?? NO_ITEMS,
    tools: body.tools ?? NO_ITEMS,
    toolChoice: body.tool_choice ?? undefined,
    thinkingTokensMax: body.thinking?.budget_tokens,
    isThinking: isThinkingOn(body),
    outputSchema: isObject(schema) ? schema : undefined,
    effort: body.output_config?.effort ?? undefined,
    cacheControl: body.cache_control ?? undefined,
    isBetaContext: asked.isBetaContext,
    betas: asked.betas,
    passedOn: pickOthers(body),
    unknownFields,
    sentUndecoded: NO_ITEMS,
  };
}

/** Most bodies have no other fields, and no object is made for them. */
function pickOthers(body: NativeRequest): Readonly<Record<string, unknown>> {
  const names = Object.keys(body).filter(
    (name) => !READ_FIELDS.has(name) && !isDropped(name, NATIVE_FIELDS),
  );
  if (names.length === 0) return NO_FIELDS;
  return Object.fromEntries(names.map((name) => [name, body[name]]));
}
