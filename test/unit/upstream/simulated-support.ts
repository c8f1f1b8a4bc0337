import { estimateTokens } from '../../../src/catalogue/estimate-tokens.ts';
import type {
  AnswerPart,
  InferenceCall,
  InferenceEvent,
  InferenceRequest,
  ToolUseBlock,
  Usage,
} from '../../../src/protocol/inference.ts';
import {
  createSimulatedUpstream,
  type SimulatedUpstreamOptions,
} from '../../../src/upstream/simulated/create-simulated-upstream.ts';

export function createRequest(fields: Partial<InferenceRequest> = {}): InferenceRequest {
  return {
    model: 'haiku',
    isStream: true,
    system: undefined,
    messages: [{ role: 'user', content: 'Hello!' }],
    outputTokensMax: 1_000,
    temperature: undefined,
    topP: undefined,
    topK: undefined,
    stopSequences: [],
    tools: [],
    toolChoice: undefined,
    thinkingTokensMax: undefined,
    isThinking: false,
    outputSchema: undefined,
    effort: undefined,
    cacheControl: undefined,
    isBetaContext: false,
    betas: [],
    passedOn: {},
    unknownFields: [],
    sentUndecoded: [],
    ...fields,
  };
}

export const ask = (text: string, fields: Partial<InferenceRequest> = {}) =>
  createRequest({ messages: [{ role: 'user', content: text }], ...fields });

export function createCall(
  request: InferenceRequest,
  fields: Partial<InferenceCall> = {},
): InferenceCall {
  return {
    requestId: 'req_0000000000000000000000001',
    accountId: 'acct_1',
    request,
    readWhole: () => request,
    model: 'llm-haiku-4.5',
    outputTokensMax: request.outputTokensMax ?? 8_192,
    contextTokensMax: 200_000,
    isBetaContext: false,
    form: { format: 'native', context: { createdSeconds: 0, wantsStreamUsage: true } },
    hasPdfs: false,
    noteTries: () => {},
    trace: undefined,
    isUnread: () => false,
    cutOff: () => false,
    signal: new AbortController().signal,
    ...fields,
  };
}

/** An upstream that is as fast as possible and counts tokens as the catalogue does. */
export function createUpstream(options: Partial<SimulatedUpstreamOptions> = {}) {
  return createSimulatedUpstream({
    seed: 1,
    latencyMs: 0,
    tokensPerSecond: 0,
    errorRate: 0,
    instance: 'test',
    clock: { nowMs: () => 0 },
    countTokens: (request) => estimateTokens(request, 3).likely,
    ...options,
  });
}

export async function collect(parts: AsyncIterable<AnswerPart>): Promise<InferenceEvent[]> {
  const collected: InferenceEvent[] = [];
  for await (const { events } of parts) collected.push(...events);
  return collected;
}

/** What a client has when the stream is over. */
export interface Outcome {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly ToolUseBlock[];
  readonly deltas: number;
  readonly finish: Extract<InferenceEvent, { type: 'finish' }> & { readonly usage: Usage };
}

export function readOutcome(events: readonly InferenceEvent[]): Outcome {
  const last = events.at(-1);
  if (last?.type !== 'finish') throw new Error('the answer has no end');
  const { usage } = last;
  if (usage === undefined) throw new Error('the answer reports no usage');
  const deltas = events.filter((event) => event.type === 'delta');
  const join = (index: number) =>
    deltas
      .filter((event) => event.index === index)
      .map(({ delta }) => (delta.type === 'input_json' ? delta.json : ''))
      .join('');
  return {
    text: deltas.map(({ delta }) => (delta.type === 'text' ? delta.text : '')).join(''),
    thinking: deltas.map(({ delta }) => (delta.type === 'thinking' ? delta.thinking : '')).join(''),
    calls: events.flatMap((event) =>
      event.type === 'block_start' && event.block.type === 'tool_use'
        ? [{ ...event.block, input: JSON.parse(join(event.index)) }]
        : [],
    ),
    deltas: deltas.filter(({ delta }) => delta.type !== 'signature').length,
    finish: { ...last, usage },
  };
}

export async function answer(
  request: InferenceRequest,
  options: Partial<SimulatedUpstreamOptions> = {},
  fields: Partial<InferenceCall> = {},
): Promise<Outcome> {
  return readOutcome(await collect(createUpstream(options)(createCall(request, fields))));
}
