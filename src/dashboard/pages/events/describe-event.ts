import type { EventRow } from '../../api/api-types.ts';
import { formatCreditAmount, formatName } from '../../format.ts';

/** `80 of 100 tokens in 1m`. */
export function describeEvent({ source, unit, window, amount, counted, held }: EventRow): string {
  if (source === 'events') return `more than ${amount} events in an hour; the others are left out`;
  const show = formatCreditAmount;
  const running = held > 0 ? `, ${show(held)} of it for requests that run` : '';
  if (source !== 'balance') {
    const words = formatName(unit ?? '');
    return `${show(counted)} of ${show(amount)} ${words} in ${formatWindow(window)}${running}`;
  }
  const line = amount > 0 ? `, below ${show(amount)}` : '';
  return `${show(counted)} credits are left${line}${running}`;
}

/** Windows of the calendar have a name. */
function formatWindow(window: string | null): string {
  return window !== null && /^[a-z]/.test(window) ? `the ${window}` : String(window);
}
