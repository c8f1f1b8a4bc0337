import { formatCount, formatCreditAmount, formatTime } from '../../format.ts';

/** A limit of a list, as `GET /v1/key` tells it. */
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
  key: 'This key',
  user: 'The end user',
  group: 'Its group',
  account: 'The account',
};

/** A limit in words, and how much of it is used. */
export function explainLimit(limit: ListedLimit) {
  const { level, unit, window, amount, action, used, held } = limit;
  const format = unit === 'credits' ? formatCreditAmount : formatCount;
  const parts = [`${format(used)} used`];
  if (held > 0) parts.push(`${format(held)} held`);
  const warning = action === 'warn' ? ', which only warns' : '';
  const words = unit.replace('_', ' ');
  return {
    title: `${HOLDERS[level] ?? level}: ${words}, ${window}`,
    used: used + held,
    max: amount,
    text: `${parts.join(' and ')} of ${format(amount)}${warning}; empty ${formatTime(limit.reset_at)}`,
  };
}
