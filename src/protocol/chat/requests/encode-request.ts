import type { InferenceRequest } from '../../inference.ts';
import { readObject, readText } from '../../json/upstream-json.ts';
import type { UpstreamCall, UpstreamCallOutline } from '../../upstream-call.ts';
import { encodeMessages } from './encode-messages.ts';
import { encodeTools } from './encode-tools.ts';

/** Newer upstreams know the first alone, older ones the second alone. */
export type OutputLimitField = 'max_completion_tokens' | 'max_tokens';

/** What the settings say; else that of the client, who knows its model; else the newer one. */
export function chooseOutputLimitField(
  { source }: UpstreamCallOutline,
  setting: OutputLimitField | undefined,
): OutputLimitField {
  if (setting !== undefined) return setting;
  const asked = source?.value;
  const isOlder = asked?.['max_tokens'] != null && asked['max_completion_tokens'] == null;
  return isOlder ? 'max_tokens' : 'max_completion_tokens';
}

const EFFORTS = ['low', 'medium', 'high', 'xhigh'];

/** Upstreams refuse longer ones. */
const USER_CHARS_MAX = 64;

/**
 * The body for an upstream of the chat format from a request of the native one. Throws a `Refusal` for what has no
 * words in it and cannot be left out; thoughts, cache markers and top_k are left out.
 */
export function encodeChatRequest(
  call: UpstreamCall,
  vendorModel: string,
  outputLimitField: OutputLimitField,
): string {
  const { request, outputTokensMax, isStream } = call;
  return JSON.stringify({
    model: vendorModel,
    messages: encodeMessages(request, call.accepts),
    [outputLimitField]: outputTokensMax,
    temperature: request.temperature,
    top_p: request.topP,
    stop: request.stopSequences.length > 0 ? request.stopSequences : undefined,
    ...encodeTools(request),
    response_format: encodeResponseFormat(request.outputSchema),
    user: encodeUser(request.passedOn),
    reasoning_effort: encodeEffort(call),
    stream: isStream,
    stream_options: isStream ? { include_usage: true } : undefined,
  });
}

function encodeUser(passedOn: InferenceRequest['passedOn']): string | undefined {
  return readText(readObject(passedOn, 'metadata'), 'user_id')?.slice(0, USER_CHARS_MAX);
}

/** What is most here is less than the most there. */
function encodeEffort({ request, accepts }: UpstreamCall): string | undefined {
  if (accepts?.has('effort') !== true) return undefined;
  const { effort } = request;
  return effort === 'max' ? 'xhigh' : EFFORTS.find((known) => known === effort);
}

function encodeResponseFormat(schema: InferenceRequest['outputSchema']) {
  if (schema === undefined) return undefined;
  if (schema === true) return { type: 'json_object' };
  return { type: 'json_schema', json_schema: { name: 'answer', schema } };
}
