import type { CalendarWindow, Limit, LimitUnit } from './limit.ts';
import { isCalendarWindow } from './parse-window.ts';

const UNIT_LETTERS: Readonly<Record<LimitUnit, string>> = {
  requests: 'r',
  tokens: 't',
  input_tokens: 'i',
  output_tokens: 'o',
  credits: 'c',
};
const WINDOW_LETTERS: Readonly<Record<CalendarWindow, string>> = {
  day: 'd',
  week: 'w',
  month: 'm',
};

const UNITS = new Map(Object.entries(UNIT_LETTERS).map(([unit, letter]) => [letter, unit]));
const WINDOWS = new Map(Object.entries(WINDOW_LETTERS).map(([name, letter]) => [letter, name]));

/** A list as records and scripts have it: `unit,window,amount,action;` for each limit. */
export function encodeLimits(limits: readonly Limit[]): string {
  return limits
    .map(({ unit, window, amount, action }) => {
      const length = typeof window === 'number' ? String(window) : WINDOW_LETTERS[window];
      return `${UNIT_LETTERS[unit]},${length},${amount},${action === 'block' ? 'b' : 'w'};`;
    })
    .join('');
}

/** Leaves out limits that this version does not know. */
export function decodeLimits(text: string): Limit[] {
  return [...text.matchAll(/([a-z]),(\w+),(\d+),([bw]);/g)].flatMap(
    ([, letter = '', length = '', amount, action]) => {
      const unit = decodeUnit(letter);
      if (unit === undefined) return [];
      const window = decodeWindow(length);
      return [{ unit, window, amount: Number(amount), action: action === 'b' ? 'block' : 'warn' }];
    },
  );
}

export function decodeUnit(letter: string): LimitUnit | undefined {
  return UNITS.get(letter) as LimitUnit | undefined;
}

/** In milliseconds, or a letter of the calendar. */
export function decodeWindow(text: string): Limit['window'] {
  const name = WINDOWS.get(text) ?? '';
  return isCalendarWindow(name) ? name : Number(text);
}
