import { ApiProblem } from './api/api-problem.ts';
import type { WrittenLimit } from './api/api-types.ts';

const LIMIT = /^([a-z_]+)=(\d+(?:\.\d+)?)\/(\w+)(?::(block|warn))?$/;

/** A list as people type it: `tokens=400000/1m, credits=25/day:warn`. */
export function showLimitTexts(limits: readonly WrittenLimit[]): string {
  return showEach(limits).join(', ');
}

/** The same with a line for each limit. */
export function showLimitLines(limits: readonly WrittenLimit[]): string {
  return showEach(limits).join('\n');
}

function showEach(limits: readonly WrittenLimit[]): readonly string[] {
  return limits.map(({ unit, amount, window, action }) => {
    const suffix = action === 'warn' ? ':warn' : '';
    return `${unit}=${amount}/${window}${suffix}`;
  });
}

/**
 * Throws a problem of the field for text that is no limit. The admin API checks units and
 * windows.
 */
export function readLimitTexts(text: string, field: string): readonly WrittenLimit[] {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '');
  return parts.map((part) => {
    const [, unit = '', amount = '', window = '', action = 'block'] = LIMIT.exec(part) ?? [];
    if (unit === '') throw refuseLimit(part, field);
    return { unit, window, amount: Number(amount), action } as WrittenLimit;
  });
}

function refuseLimit(part: string, field: string): ApiProblem {
  const message = `${part} is not a limit such as tokens=400000/1m or credits=25/day:warn`;
  return new ApiProblem(`${field}: ${message}`, {
    status: 0,
    code: 'invalid_request',
    fields: [{ field, message }],
  });
}
