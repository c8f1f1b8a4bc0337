import { formatCredits } from '../lib/units/micros.ts';
import { SECOND_MS } from '../lib/units/time-units.ts';
import type { LimitUnit } from '../limits/limit.ts';
import type { LimitLevel, MetLimit } from '../protocol/rates/limit-state.ts';
import { DO_NOT_RETRY, retryAfterHeaders } from '../protocol/rates/retry-after-headers.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { AdmitReply } from './scripts/admit.ts';

/**
 * Nobody waits for longer. `retry-after` says at most 59 s, so the client would come back in vain.
 */
const RETRY_WAIT_MAX_MS = 120_000;

const HOLDERS: Readonly<Record<LimitLevel, string>> = {
  key: 'this API key',
  user: 'this end user',
  group: 'the group of this API key',
  account: 'this account',
};
const UNITS: Readonly<Record<LimitUnit, string>> = {
  requests: 'requests',
  tokens: 'tokens',
  input_tokens: 'input tokens',
  output_tokens: 'output tokens',
  credits: 'credits',
};
const ROLLING = [
  { ms: 86_400_000, one: 'day', many: 'days' },
  { ms: 3_600_000, one: 'hour', many: 'hours' },
  { ms: 60_000, one: 'minute', many: 'minutes' },
  { ms: SECOND_MS, one: 'second', many: 'seconds' },
];

/**
 * A limit that has room again while a client can wait is one of the rate. Credits of a calendar
 * period are a budget, for which no client should try again.
 */
export function refuseByLimit(reply: Extract<AdmitReply, { kind: 'limit' }>): Refusal {
  const used = formatAmount(reply, reply.countedAmount - reply.heldAmount);
  const held = formatAmount(reply, reply.heldAmount);
  const waitSeconds = reply.waitMs / SECOND_MS;
  const text = `This request would exceed a limit of ${HOLDERS[reply.level]}, ${describeLimit(reply)}: ${used} used and ${held} held by running requests. There is room again in ${waitSeconds} seconds.`;
  const isBudget = reply.unit === 'credits' && typeof reply.window !== 'number';
  if (isBudget) return new Refusal('budget_reached', text, { headers: DO_NOT_RETRY });
  const isLong = reply.waitMs > RETRY_WAIT_MAX_MS;
  const headers = { ...retryAfterHeaders(reply.waitMs), ...(isLong && DO_NOT_RETRY) };
  return new Refusal('limit_reached', text, { headers });
}

export function refuseTooLarge(reply: Extract<AdmitReply, { kind: 'too_large' }>): Refusal {
  const needed = `${formatAmount(reply, reply.needed)} ${UNITS[reply.unit]}`;
  return new Refusal(
    'too_large_for_limit',
    `This request may need ${needed}, which is more than a limit of ${HOLDERS[reply.level]} ever allows, ${describeLimit(reply)}. Ask for less.`,
    { headers: DO_NOT_RETRY },
  );
}

function describeLimit(limit: MetLimit): string {
  return `${formatAmount(limit, limit.amount)} ${UNITS[limit.unit]} ${describeWindow(limit.window)}`;
}

function describeWindow(window: MetLimit['window']): string {
  if (typeof window !== 'number') return `per calendar ${window} (UTC)`;
  const unit = ROLLING.find(({ ms }) => window % ms === 0);
  if (unit === undefined) return `in any ${window} ms`;
  const count = window / unit.ms;
  return count === 1 ? `per ${unit.one}` : `in any ${count} ${unit.many}`;
}

function formatAmount({ unit }: MetLimit, amount: number): string {
  return unit === 'credits' ? formatCredits(amount) : String(amount);
}
