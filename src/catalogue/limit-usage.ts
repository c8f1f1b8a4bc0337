import { inputOf } from '../protocol/answers/raise-usage.ts';
import type { Usage } from '../protocol/inference.ts';
import type { TokenEstimate } from './estimate-tokens.ts';

/**
 * Some upstreams also count the tokens that end an answer, beyond the requested maximum. Such a
 * small excess does not mark the usage as implausible.
 */
export const ENDING_TOKENS_MAX = 32;

interface UsageLimits {
  /** What the upstream was asked for. */
  readonly outputTokensMax: number;
  /** What the client has surely got, if that is more; otherwise 0. */
  readonly outputTokensSure: number;
  /** The most that all runs of the model together can have read of what was sent and found. */
  readonly inputTokensMax: number;
  readonly searchesMax: number;
  readonly cacheWrite: TokenEstimate['cacheWrite'];
}

export interface LimitedUsage {
  readonly usage: Usage;
  readonly isImplausible: boolean;
}

/**
 * Limits the usage to what the answer can have cost: nobody pays for more than was asked for,
 * unless the upstream has written more. Otherwise a client could ask for it in a way that the
 * upstream does not understand.
 */
export function limitUsage(reported: Usage, limits: UsageLimits): LimitedUsage {
  const { outputTokensMax, outputTokensSure, inputTokensMax, searchesMax } = limits;
  const usage = timeWrites(reported, limits.cacheWrite);
  const input = inputOf(usage);
  const isBeyond = input > inputTokensMax || usage.searches > searchesMax;
  const isOutputSound = usage.output <= outputTokensMax && usage.thinking <= usage.output;
  if (isOutputSound && !isBeyond) return { usage, isImplausible: false };
  const output = Math.min(usage.output, Math.max(outputTokensMax, outputTokensSure));
  const thinking = Math.min(usage.thinking, output);
  const searches = Math.min(usage.searches, searchesMax);
  const limited = input > inputTokensMax ? limitInput(usage, inputTokensMax) : usage;
  return {
    usage: { ...limited, output, thinking, searches },
    isImplausible:
      isBeyond || Math.max(usage.output, usage.thinking) > outputTokensMax + ENDING_TOKENS_MAX,
  };
}

/** A cache write without a time is taken for the most expensive kind that was asked for. */
function timeWrites(usage: Usage, asked: UsageLimits['cacheWrite']): Usage {
  const { untimedWrite, ...timed } = usage;
  if (untimedWrite === undefined) return usage;
  if (asked !== '1h') return timed;
  return {
    ...timed,
    cacheWrite5m: timed.cacheWrite5m - untimedWrite,
    cacheWrite1h: timed.cacheWrite1h + untimedWrite,
  };
}

/** Cuts the kind that is usually the most expensive first. */
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
