import * as ascii from '../../lib/bytes/ascii.ts';
import { findTextEnd } from './find-string-end.ts';
import { JSON_NAME_BYTES_MAX, type JsonExcess } from './json-place.ts';

const { CLOSING_BRACE, CLOSING_BRACKET, COLON, OPENING_BRACE, OPENING_BRACKET, QUOTE } = ascii;

/** How many lists, objects and members of objects may still be read. */
export interface PartsRoom {
  left: number;
}

/**
 * Returns which bound a JSON text exceeds, if it does. It skips strings with a fast search, so
 * megabytes of text inside a string cost almost nothing.
 */
export function findExcess(
  text: string,
  depthMax: number,
  room: PartsRoom,
): JsonExcess | undefined {
  let depth = 0;
  let stringChars = 0;
  for (let i = 0; i < text.length && room.left >= 0; i++) {
    switch (text.charCodeAt(i)) {
      case OPENING_BRACE:
      case OPENING_BRACKET:
        depth += 1;
        if (depth > depthMax) return 'depth';
        room.left -= 1;
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        depth -= 1;
        break;
      case QUOTE: {
        const end = findTextEnd(text, i + 1);
        stringChars = end - i - 1;
        i = end;
        break;
      }
      case COLON:
        room.left -= 1;
        if (stringChars > JSON_NAME_BYTES_MAX) return 'name';
        break;
    }
  }
  return room.left < 0 ? 'parts' : undefined;
}
