import { JSON_DEPTH_MAX } from './scan-json.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/**
 * Whether a text of JSON is nested beyond the bound. Looks only at what stands outside of strings, so that
 * megabytes of text in one cost nothing.
 */
export function isTooDeep(text: string): boolean {
  if (text.length <= JSON_DEPTH_MAX) return false;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case OPENING_BRACE:
      case OPENING_BRACKET:
        depth += 1;
        if (depth > JSON_DEPTH_MAX) return true;
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        depth -= 1;
        break;
      case QUOTE:
        i = findStringEnd(text, i + 1);
        break;
    }
  }
  return false;
}

function findStringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start);
  while (end !== -1 && isEscaped(text, start, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, start: number, quote: number): boolean {
  let first = quote;
  while (first > start && text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (quote - first) % 2 === 1;
}
