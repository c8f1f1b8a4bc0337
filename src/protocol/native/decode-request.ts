import type { DecodedRequest, HeaderSource } from '../format.ts';
import type { InferenceRequest } from '../inference.ts';
import { Refusal } from '../refusals.ts';
import { checkRequest } from './check-request.ts';
import { checkVersion, readBetas, wantsBetaContext } from './decode-headers.ts';
import { isThinkingOn, type NativeRequest } from './native-request.ts';
import { nativeRequestSchema } from './request-schema.ts';

export function decodeRequest(body: unknown, header: HeaderSource): DecodedRequest {
  checkVersion(header);
  checkSchema(body);
  checkRequest(body);
  // Native streams tell their usage whether they are asked or not.
  return { request: toInference(body, header), wantsStreamUsage: true };
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

function toInference(body: NativeRequest, header: HeaderSource): InferenceRequest {
  const {
    model,
    messages,
    max_tokens: outputTokensMax,
    system,
    stream,
    temperature,
    top_p: topP,
    top_k: topK,
    stop_sequences: stopSequences,
    tools,
    tool_choice: toolChoice,
    cache_control: cacheControl,
    ...passedOn
  } = body;
  return {
    model,
    isStream: stream ?? false,
    system: system ?? undefined,
    messages,
    outputTokensMax,
    temperature: temperature ?? undefined,
    topP: topP ?? undefined,
    topK: topK ?? undefined,
    stopSequences: stopSequences ?? [],
    tools: tools ?? [],
    toolChoice: toolChoice ?? undefined,
    thinkingTokensMax: body.thinking?.budget_tokens,
    isThinking: isThinkingOn(body),
    outputSchema: body.output_config?.format?.schema,
    cacheControl: cacheControl ?? undefined,
    isBetaContext: wantsBetaContext(header),
    betas: readBetas(header),
    passedOn,
    passedOnToChat: {},
  };
}
