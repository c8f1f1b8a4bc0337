import * as ascii from '../../lib/bytes/ascii.ts';
import { findTextEnd } from './find-string-end.ts';
import { JSON_DEPTH_MAX } from './json-place.ts';

const { CLOSING_BRACE, CLOSING_BRACKET, OPENING_BRACE, OPENING_BRACKET, QUOTE } = ascii;

/**
 * Whether a JSON text is nested deeper than the bound. It skips strings with a fast search, so
 * megabytes of text inside a string cost almost nothing.
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
        i = findTextEnd(text, i + 1);
        break;
    }
  }
  return false;
}
