import { formatCount, formatCreditAmount, formatTime } from '../../format.ts';

/** A limit of a list, as `GET /v1/key` reports it. */
export interface ListedLimit {
  readonly level: string;
  readonly unit: string;
  readonly window: string;
  readonly amount: number;
  readonly action: string;
  readonly used: number;
  readonly held: number;
  readonly reset_at: string;
}

const HOLDERS: Readonly<Record<string, string>> = {
  user: 'The end user',
  group: 'Its group',
  account: 'The account',
};

/** A limit in words, and how much of it is used. `shown` is the level that the page is about. */
export function explainLimit(limit: ListedLimit, shown: 'key' | 'group' | 'account') {
  const { level, unit, window, amount, action, used, held } = limit;
  const format = unit === 'credits' ? formatCreditAmount : formatCount;
  const parts = [`${format(used)} used`];
  if (held > 0) parts.push(`${format(held)} held`);
  const isWarning = action === 'warn';
  const holder = level === shown ? `This ${level}` : (HOLDERS[level] ?? level);
  return {
    title: `${holder}: ${unit.replace('_', ' ')}, ${window}${isWarning ? ' (warning)' : ''}`,
    used: used + held,
    max: amount,
    text: `${parts.join(' and ')} of ${format(amount)}${isWarning ? ', which only warns' : ''}; empty ${formatTime(limit.reset_at)}`,
  };
}
