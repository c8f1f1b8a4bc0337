import { createHash } from 'node:crypto';
import type { Clock } from '../../lib/time/clock.ts';
import { checkWindow } from '../../protocol/check-window.ts';
import type {
  AnswerPart,
  Infer,
  InferenceCall,
  InferenceEvent,
  InferenceRequest,
  Usage,
} from '../../protocol/inference.ts';
import { wait } from '../../timers/wait.ts';
import { countSearches } from './count-searches.ts';
import { embedInputs } from './embed-inputs.ts';
import { emitAnswer } from './emit-answer.ts';
import { measureInput } from './measure-input.ts';
import { parseDirectives } from './parse-directives.ts';
import { limitAnswer, planAnswer } from './plan-answer.ts';
import { createPromptCache } from './prompt-cache.ts';
import { createRandom } from './random.ts';
import { readConversation } from './read-conversation.ts';
import { createSimulatedError, drawError } from './simulated-errors.ts';
import { createTokenPace } from './token-pace.ts';

export interface SimulatedUpstreamOptions {
  /** Equal seeds give equal answers to equal requests. */
  readonly seed: number;
  readonly latencyMs: number;
  /** 0 means as fast as possible. */
  readonly tokensPerSecond: number;
  /** The share of requests that fail, from 0 to 1. Drawn for each try, so that a retry helps. */
  readonly errorRate: number;
  /**
   * Makes the ids of this upstream differ from those of others with the same seed in other
   * processes.
   */
  readonly instance: string;
  readonly clock: Clock;
  /** How many tokens the input of a request has. */
  countTokens(request: InferenceRequest): number;
}

/** How much of the prompt goes into the seed: its beginning is enough to make answers differ. */
const SEED_CHARS_MAX = 4_096;

/**
 * Answers without a real model. On request it does whatever a real one can do to a gateway; see
 * `parse-directives.ts`.
 */
export function createSimulatedUpstream(options: SimulatedUpstreamOptions): Infer {
  const { seed } = options;
  const cache = createPromptCache(options.clock);
  const drawChance = createRandom(seed, 'errors');
  let calls = 0;

  async function* emit(call: InferenceCall): AsyncGenerator<InferenceEvent> {
    const { model, signal } = call;
    const request = call.readWhole();
    signal.throwIfAborted();
    calls += 1;
    const name = `${seed} ${options.instance} ${calls}`;
    const conversation = readConversation(request.messages);
    const directives = parseDirectives(conversation.userText);
    const error = directives.error ?? drawError(options.errorRate, drawChance);

    await wait(directives.latencyMs ?? options.latencyMs, signal);
    if (error !== undefined && error.afterTokens === undefined) {
      throw createSimulatedError(error);
    }
    const inputTokens = options.countTokens(request);
    checkWindow({
      inputTokens,
      outputTokens: request.outputTokensMax === undefined ? 0 : call.outputTokensMax,
      contextTokensMax: call.contextTokensMax,
    });
    const searches = countSearches(request.tools, directives);
    const usage: Usage = { ...measureInput(request, { ...options, model, cache }), searches };
    const random = createRandom(seed, model, conversation.userText.slice(0, SEED_CHARS_MAX));
    const plan = planAnswer({ call, request, directives, conversation, random });
    const room = call.contextTokensMax - inputTokens;

    yield { type: 'start', id: createId('msg', name), model, usage };
    yield* emitAnswer({
      answer: limitAnswer(plan, Math.min(call.outputTokensMax, room)),
      usage,
      error,
      pace: createTokenPace(directives.tokenDelayMs ?? delayOf(options.tokensPerSecond)),
      signal,
      createToolId: (index) => createId('toolu', `${name} ${index}`),
      signature: createHash('sha256').update(`${name} signature`).digest('base64'),
    });
  }

  async function* embed(call: InferenceCall): AsyncGenerator<AnswerPart> {
    const { embeds } = call.readWhole();
    if (embeds === undefined) return;
    const text = embeds.inputs.find((input) => typeof input === 'string') ?? '';
    const { error = drawError(options.errorRate, drawChance), latencyMs } = parseDirectives(text);
    await wait(latencyMs ?? options.latencyMs, call.signal);
    if (error !== undefined) throw createSimulatedError(error);
    const input = Math.min(options.countTokens(call.readWhole()), embeds.tokensMax);
    yield embedInputs(embeds, { model: call.model, seed, input });
  }

  return async function* infer(call: InferenceCall): AsyncGenerator<AnswerPart> {
    if (call.request.embeds !== undefined) {
      yield* embed(call);
      return;
    }
    for await (const event of emit(call))
      yield { events: [event], contentBytes: 0, bytes: undefined };
  };
}

function delayOf(tokensPerSecond: number): number {
  return tokensPerSecond === 0 ? 0 : 1_000 / tokensPerSecond;
}

function createId(prefix: 'msg' | 'toolu', name: string): string {
  return `${prefix}_${createHash('sha256').update(`${prefix} ${name}`).digest('hex').slice(0, 24)}`;
}
