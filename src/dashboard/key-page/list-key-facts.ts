import { formatCount, formatCreditAmount, formatFigure, formatTime } from '../format.ts';
import type { KeyInfo } from './key-info.ts';

const months = new Intl.DateTimeFormat('en-GB', {
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});

interface KeyFact {
  readonly name: string;
  readonly value: string;
  /** Text wraps, and is smaller than figures. */
  readonly isText?: boolean;
}

/** Lists what the owner of a key wants to know, the most urgent first. */
export function listKeyFacts(info: KeyInfo): readonly KeyFact[] {
  const { account, rate, concurrency, expires_at: expiresAt } = info;
  const window = `${formatFigure(info.rate_window_seconds)} s`;
  return [
    { name: 'Balance, in credits', value: formatCreditAmount(account.balance) },
    { name: 'Held by running requests', value: formatCreditAmount(account.held) },
    {
      name: `Spent in ${formatMonth(info.month)}, UTC`,
      value: formatCreditAmount(info.spent_this_month),
    },
    { name: 'Monthly cap', value: formatLimit(info.monthly_cap, formatCreditAmount) },
    ...(rate === null ? [] : [{ name: `Key: requests left, ${window}`, value: formatRate(rate) }]),
    { name: `Account: requests left, ${window}`, value: formatRate(account.rate) },
    {
      name: 'Requests at once',
      value: `${formatCount(info.in_flight)} of ${formatLimit(concurrency, formatCount)}`,
    },
    { name: 'Ends', value: expiresAt === null ? 'never' : formatTime(expiresAt), isText: true },
    { name: 'Key', value: `${info.key}, ${info.id}`, isText: true },
    { name: 'Account', value: account.id, isText: true },
  ];
}

/** Formats a month given as `yyyymm`. */
function formatMonth(month: string): string {
  return months.format(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(4)) - 1));
}

function formatRate({ remaining, limit }: { readonly remaining: number; readonly limit: number }) {
  return `${formatCount(remaining)} of ${formatCount(limit)}`;
}

function formatLimit(limit: number | null, format: (value: number) => string): string {
  return limit === null ? 'any' : format(limit);
}
