import { inputOf } from '../protocol/answers/raise-usage.ts';
import type { Usage } from '../protocol/inference.ts';

/** Some upstreams count the tokens that end an answer, which nobody asked for: that much is no reason to mark it. */
const ENDING_TOKENS_MAX = 32;

interface UsageLimits {
  /** What the upstream was asked for. */
  readonly outputTokensMax: number;
  /** No more can have been read, in all runs of the model together. */
  readonly inputTokensMax: number;
  readonly searchesMax: number;
}

export interface LimitedUsage {
  readonly usage: Usage;
  readonly isImplausible: boolean;
}

/** An upstream is believed as far as its answer can be: nobody pays for more than was asked. */
export function limitUsage(usage: Usage, limits: UsageLimits): LimitedUsage {
  const { outputTokensMax, inputTokensMax, searchesMax } = limits;
  const input = inputOf(usage);
  const isBeyond = input > inputTokensMax || usage.searches > searchesMax;
  if (usage.output <= outputTokensMax && !isBeyond) return { usage, isImplausible: false };
  const output = Math.min(usage.output, outputTokensMax);
  const thinking = Math.min(usage.thinking, output);
  const searches = Math.min(usage.searches, searchesMax);
  const limited = input > inputTokensMax ? limitInput(usage, inputTokensMax) : usage;
  return {
    usage: { ...limited, output, thinking, searches },
    isImplausible: isBeyond || usage.output > outputTokensMax + ENDING_TOKENS_MAX,
  };
}

/** What is usually the dearest goes first. */
function limitInput(usage: Usage, tokensMax: number): Usage {
  let room = tokensMax;
  const take = (tokens: number) => {
    const taken = Math.min(tokens, room);
    room -= taken;
    return taken;
  };
  const cacheRead = take(usage.cacheRead);
  const input = take(usage.input);
  const cacheWrite5m = take(usage.cacheWrite5m);
  return { ...usage, cacheRead, input, cacheWrite5m, cacheWrite1h: take(usage.cacheWrite1h) };
}
