import * as ascii from '../../lib/bytes/ascii.ts';
import { findStringEnd } from './find-string-end.ts';
import { JSON_NAME_BYTES_MAX, type JsonBounds, type JsonExcess } from './json-place.ts';

const { CLOSING_BRACE, CLOSING_BRACKET, COLON, COMMA, OPENING_BRACE, OPENING_BRACKET } = ascii;
const { QUOTE, SPACE } = ascii;

/** One name and value of an object, by their places in the bytes. */
export interface JsonMember {
  /** The name as it is written. A name with an escape in it matches no known name. */
  readonly name: string;
  /** The place of the quote before the name. */
  readonly start: number;
  readonly valueStart: number;
  /** The place after the value and the white space that follows it. */
  readonly end: number;
}

interface JsonScan {
  /** The bound that the bytes exceed, if they do. */
  readonly excess: JsonExcess | undefined;
  /** The members of the outermost object; empty if the bytes are not an object. */
  readonly members: readonly JsonMember[];
  /** Whether all names of `members` are written without an escape. */
  readonly hasPlainNames: boolean;
  /** Counts the members of all objects, at any depth. */
  readonly memberCount: number;
  /** The bytes of all numbers and other values that are not strings, at any depth. */
  readonly scalarBytes: number;
}

/**
 * Finds where the members of an object are, and how deep it is nested, without parsing it. The
 * result is right only if the bytes are valid JSON, which a parser has to check. `text` is the
 * decoded bytes.
 */
export function scanJson(bytes: Buffer, text: string, bounds: JsonBounds): JsonScan {
  const { depthMax, partsMax } = bounds;
  // If every character is one byte, the text has the same places, and a slice of it is faster.
  const isAscii = text.length === bytes.length;
  const members: JsonMember[] = [];
  let depth = 0;
  let start = -1;
  let nameEnd = -1;
  let valueStart = -1;
  let partCount = 0;
  let memberCount = 0;
  let scalarBytes = 0;
  let stringBytes = 0;
  let nameBytesMax = 0;

  const endMember = (end: number) => {
    if (depth !== 1 || valueStart === -1) return;
    const name = isAscii
      ? text.slice(start + 1, nameEnd)
      : bytes.toString('latin1', start + 1, nameEnd);
    members.push({ name, start, valueStart, end });
    start = -1;
    valueStart = -1;
  };

  for (let i = 0; i < bytes.length && partCount <= partsMax; i++) {
    switch (bytes[i]) {
      case QUOTE: {
        const end = findStringEnd(bytes, i + 1);
        if (depth === 1 && start === -1) {
          start = i;
          nameEnd = end;
        }
        stringBytes = end - i - 1;
        i = end;
        break;
      }
      case OPENING_BRACE:
      case OPENING_BRACKET:
        depth += 1;
        if (depth > depthMax) return refuse('depth');
        partCount += 1;
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        endMember(i);
        depth -= 1;
        break;
      case COLON:
        memberCount += 1;
        partCount += 1;
        nameBytesMax = Math.max(stringBytes, nameBytesMax);
        if (depth === 1) valueStart = i + 1;
        break;
      case COMMA:
        endMember(i);
        break;
      default:
        if ((bytes[i] ?? 0) > SPACE) scalarBytes += 1;
    }
  }
  if (partCount > partsMax) return refuse('parts');
  const excess = nameBytesMax > JSON_NAME_BYTES_MAX ? 'name' : undefined;
  return { excess, members, hasPlainNames: arePlain(members, text), memberCount, scalarBytes };
}

function refuse(excess: JsonExcess): JsonScan {
  return { excess, members: [], hasPlainNames: false, memberCount: 0, scalarBytes: 0 };
}

function arePlain(members: readonly JsonMember[], text: string): boolean {
  return !text.includes('\\') || members.every(({ name }) => !name.includes('\\'));
}
