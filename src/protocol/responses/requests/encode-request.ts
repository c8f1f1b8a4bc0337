import { encodeUser } from '../../fields/encode-user.ts';
import { wantsNoThinking } from '../../fields/wants-no-thinking.ts';
import type { InferenceRequest } from '../../inference.ts';
import type { UpstreamCall } from '../../upstream-call.ts';
import { encodeInput } from './encode-input.ts';
import { encodeTools } from './encode-tools.ts';
import { listIncluded } from './list-included.ts';
import { refuseStops } from './refuse-stops.ts';

const EFFORTS = ['minimal', 'low', 'medium', 'high', 'xhigh'];
/** OpenAI refuses fewer. A client of another format cannot know that. */
const OUTPUT_TOKENS_MIN = 16;

/**
 * Writes the body for an upstream of the responses format from a request of the native format.
 * Throws a `Refusal` for content that this format cannot express and that must not be left out.
 * Thoughts of other upstreams, cache markers and top_k are left out.
 */
export function encodeResponsesRequest(call: UpstreamCall, vendorModel: string): string {
  const { request, outputTokensMax, isStream } = call;
  refuseStops(request);
  return JSON.stringify({
    model: vendorModel,
    input: encodeInput(request.messages, call),
    instructions: encodeInstructions(request.system),
    max_output_tokens: Math.max(outputTokensMax, OUTPUT_TOKENS_MIN),
    temperature: call.dropsSampling === true ? undefined : request.temperature,
    top_p: call.dropsSampling === true ? undefined : request.topP,
    ...encodeTools(request),
    text: encodeText(request),
    reasoning: encodeReasoning(call),
    prompt_cache_key: request.passedOnToResponses?.prompt_cache_key,
    safety_identifier: encodeUser(request.passedOn),
    // What is stored would be in the vendor's archive, out of reach.
    store: false,
    include: listIncluded(call, undefined),
    stream: isStream,
  });
}

function encodeInstructions(system: InferenceRequest['system']): string | undefined {
  if (system === undefined || typeof system === 'string') return system || undefined;
  return system.map(({ text }) => text).join('\n') || undefined;
}

function encodeText(request: InferenceRequest) {
  const verbosity = request.passedOnToResponses?.verbosity;
  const format = encodeFormat(request);
  return verbosity === undefined && format === undefined ? undefined : { format, verbosity };
}

function encodeFormat({ outputSchema: schema, schemaTerms }: InferenceRequest) {
  if (schema === undefined) return undefined;
  if (schema === true) return { type: 'json_object' };
  return { type: 'json_schema', name: 'answer', ...schemaTerms, schema };
}

/**
 * Only a client that asks for thinking can show a summary. The native `max` is more than the
 * highest effort here.
 */
function encodeReasoning({ request, accepts }: UpstreamCall) {
  if (accepts?.has('no_thinking') === true && wantsNoThinking(request)) return { effort: 'none' };
  if (accepts?.has('effort') !== true) return undefined;
  const asked = request.effort === 'max' ? 'xhigh' : request.effort;
  const effort = EFFORTS.find((known) => known === asked);
  if (effort === undefined && !request.isThinking) return undefined;
  return { effort, ...(request.isThinking && { summary: 'auto' }) };
}
