import type { KeyLimits, SharedLimits } from '../../api/api-types.ts';
import { formatCount, formatCreditAmount } from '../../format.ts';
import { explainLimit } from '../../parts/limits/explain-limit.ts';

export interface GaugedLimit {
  readonly title: string;
  readonly used: number;
  /** 0 if there is no limit. */
  readonly max: number;
  readonly text: string;
}

/** Describes the limits that all keys of an account or a group meet. */
export function describeSharedLimits(
  { rate, rate_window_seconds: windowSeconds, limits }: SharedLimits,
  shown: 'group' | 'account',
): readonly GaugedLimit[] {
  return [
    describeRate('Rate of the account', rate, windowSeconds),
    ...limits.map((limit) => explainLimit(limit, shown)),
  ];
}

/** Describes each limit of a key and how much of it is used. */
export function describeLimits(limits: KeyLimits): readonly GaugedLimit[] {
  const { rate, account, rate_window_seconds: windowSeconds } = limits;
  const spent = limits.spent_this_month + limits.held;
  const cap = limits.monthly_cap;
  const inFlight = limits.in_flight;
  const inFlightMax = limits.concurrency;
  const month = `${limits.month.slice(0, 4)}-${limits.month.slice(4)}`;
  const spentText = `${formatCreditAmount(limits.spent_this_month)} spent and ${formatCreditAmount(limits.held)} held`;
  return [
    describeRate('Rate of this key', rate, windowSeconds),
    describeRate('Rate of the account', account.rate, windowSeconds),
    {
      title: `Spend of ${month}`,
      used: spent,
      max: cap ?? 0,
      text: `${spentText}${cap === null ? ', without a cap' : ` of ${formatCreditAmount(cap)} credits`}`,
    },
    {
      title: 'Requests at the same time',
      used: inFlight,
      max: inFlightMax ?? 0,
      text: `${formatCount(inFlight)}${inFlightMax === null ? ', without a limit' : ` of ${formatCount(inFlightMax)}`}`,
    },
    ...limits.limits.map((limit) => explainLimit(limit, 'key')),
  ];
}

function describeRate(title: string, rate: KeyLimits['rate'], windowSeconds: number): GaugedLimit {
  if (rate === null) return { title, used: 0, max: 0, text: 'No limit of its own' };
  const { limit, remaining } = rate;
  const used = limit - remaining;
  const text = `${formatCount(used)} of ${formatCount(limit)} requests in the last ${formatCount(windowSeconds)} s, ${formatCount(remaining)} left`;
  return { title, used, max: limit, text };
}
