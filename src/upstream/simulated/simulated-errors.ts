import { Refusal, type RefusalName } from '../../protocol/refusals.ts';
import { UpstreamFailure } from '../../routing/upstream-failure.ts';
import { pickOne, type Random } from './random.ts';

interface SimulatedError {
  readonly refusal: RefusalName;
  readonly message: string;
}

const ERRORS = new Map<number, SimulatedError>([
  [400, { refusal: 'invalid_request', message: 'Simulated error: the request is invalid' }],
  [413, { refusal: 'body_too_large', message: 'Simulated error: the request is too large' }],
  [429, { refusal: 'rate_limited', message: 'Simulated error: too many requests' }],
  [500, { refusal: 'fault', message: 'Simulated error: Internal server error' }],
  [502, { refusal: 'upstream_broken', message: 'Simulated error: the upstream broke' }],
  [503, { refusal: 'unavailable', message: 'Simulated error: the upstream is unavailable' }],
  [504, { refusal: 'answer_too_slow', message: 'Simulated error: the upstream took too long' }],
  [529, { refusal: 'upstream_overloaded', message: 'Overloaded (simulated error)' }],
]);

/** The statuses with which real upstreams fail by chance. */
const CHANCE_STATUSES = [500, 502, 503, 529] as const;
const CHANCE_TOKENS_MAX = 20;

export interface ErrorPlan {
  readonly status: number;
  /** How many tokens of the answer come first; absent if there are none. */
  readonly afterTokens: number | undefined;
  /**
   * Whether the prompt asks for it. Then every try would fail alike, and this says nothing about
   * the upstream.
   */
  readonly isAskedFor: boolean;
}

export function createSimulatedError({ status, isAskedFor }: ErrorPlan): Refusal {
  const error = ERRORS.get(status);
  if (error === undefined) throw new Error(`no simulated error has the status ${status}`);
  const isWorthWaiting = status === 429 || status === 503;
  const refusal = new Refusal(error.refusal, error.message, {
    headers: isWorthWaiting ? { 'retry-after': '1' } : {},
  });
  return isAskedFor ? new UpstreamFailure('refused', refusal) : refusal;
}

/** Half of the errors come before the answer, half in its middle. */
export function drawError(rate: number, random: Random): ErrorPlan | undefined {
  if (random() >= rate) return undefined;
  const status = pickOne(CHANCE_STATUSES, random);
  const isBefore = random() < 0.5;
  const afterTokens = isBefore ? undefined : Math.floor(random() * CHANCE_TOKENS_MAX);
  return { status, afterTokens, isAskedFor: false };
}
