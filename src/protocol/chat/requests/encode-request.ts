import { encodeUser } from '../../fields/encode-user.ts';
import { wantsNoThinking } from '../../fields/wants-no-thinking.ts';
import type { InferenceRequest } from '../../inference.ts';
import type { UpstreamCall, UpstreamCallOutline } from '../../upstream-call.ts';
import { encodeMessages } from './encode-messages.ts';
import { encodeTools } from './encode-tools.ts';

/** Newer upstreams know only the first name, older ones only the second. */
export type OutputLimitField = 'max_completion_tokens' | 'max_tokens';

/**
 * Takes the name from the settings, or else from the client, which knows its model, or else the
 * newer one.
 */
export function chooseOutputLimitField(
  { source }: UpstreamCallOutline,
  setting: OutputLimitField | undefined,
): OutputLimitField {
  if (setting !== undefined) return setting;
  const asked = source?.value;
  const isOlder = asked?.['max_tokens'] != null && asked['max_completion_tokens'] == null;
  return isOlder ? 'max_tokens' : 'max_completion_tokens';
}

const EFFORTS = ['minimal', 'low', 'medium', 'high', 'xhigh'];

/**
 * Writes the body for an upstream of the chat format from a request of the native format. Throws a
 * `Refusal` for content that the chat format cannot express and that must not be left out. Thinking
 * that the upstream does not take, cache markers and top_k are left out.
 */
export function encodeChatRequest(
  call: UpstreamCall,
  vendorModel: string,
  outputLimitField: OutputLimitField,
): string {
  const { request, outputTokensMax, isStream } = call;
  return JSON.stringify({
    ...pickPassedOn(call),
    model: vendorModel,
    messages: encodeMessages(request, call.accepts),
    [outputLimitField]: outputTokensMax,
    temperature: call.dropsSampling === true ? undefined : request.temperature,
    top_p: call.dropsSampling === true ? undefined : request.topP,
    stop: request.stopSequences.length > 0 ? request.stopSequences : undefined,
    ...encodeTools(request),
    response_format: encodeResponseFormat(request),
    user: encodeUser(request.passedOn),
    reasoning_effort: encodeEffort(call),
    stream: isStream,
    stream_options: isStream ? { include_usage: true } : undefined,
  });
}

/** A key for the cache only helps, and vendors that do not know it refuse the request. */
function pickPassedOn({ request, accepts }: UpstreamCall): InferenceRequest['passedOnToChat'] {
  if (accepts?.has('prompt_cache_key') === true) return request.passedOnToChat;
  return { ...request.passedOnToChat, prompt_cache_key: undefined };
}

/** The native `max` is more than the chat format's `xhigh`, its highest effort. */
function encodeEffort({ request, accepts }: UpstreamCall): string | undefined {
  if (accepts?.has('no_thinking') === true && wantsNoThinking(request)) return 'none';
  if (accepts?.has('effort') !== true) return undefined;
  const { effort } = request;
  return effort === 'max' ? 'xhigh' : EFFORTS.find((known) => known === effort);
}

function encodeResponseFormat({ outputSchema: schema, schemaTerms }: InferenceRequest) {
  if (schema === undefined) return undefined;
  if (schema === true) return { type: 'json_object' };
  return { type: 'json_schema', json_schema: { name: 'answer', ...schemaTerms, schema } };
}
