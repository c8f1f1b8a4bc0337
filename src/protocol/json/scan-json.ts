import * as ascii from '../../lib/bytes/ascii.ts';
import { findStringEnd } from './find-string-end.ts';
import { JSON_DEPTH_MAX } from './json-place.ts';

const { CLOSING_BRACE, CLOSING_BRACKET, COLON, COMMA, OPENING_BRACE, OPENING_BRACKET, QUOTE } =
  ascii;

/** One name and value of an object, where they stand in its bytes. */
export interface JsonMember {
  /** As it is written: one with an escape in it is no name that anybody looks for. */
  readonly name: string;
  /** Of the quote before the name. */
  readonly start: number;
  readonly valueStart: number;
  /** Behind the value, and behind the space that follows it. */
  readonly end: number;
}

export interface JsonScan {
  readonly isTooDeep: boolean;
  /** Of the outermost object; empty where the bytes are none. */
  readonly members: readonly JsonMember[];
  /** No name of them is written with an escape. */
  readonly hasPlainNames: boolean;
  /** Of all objects, at any depth. */
  readonly memberCount: number;
}

const TOO_DEEP: JsonScan = { isTooDeep: true, members: [], hasPlainNames: false, memberCount: 0 };

/**
 * Finds where the members of an object stand, and how deep it is nested, without reading it. What it finds is
 * right where the bytes, and the text that they are, are JSON, which a parser has to say.
 */
export function scanJson(bytes: Buffer, text: string): JsonScan {
  // Where every character is one byte, names are cut from the text, which is quicker.
  const isAscii = text.length === bytes.length;
  const members: JsonMember[] = [];
  let depth = 0;
  let start = -1;
  let nameEnd = -1;
  let valueStart = -1;
  let memberCount = 0;

  const endMember = (end: number) => {
    if (valueStart === -1) return;
    const name = isAscii
      ? text.slice(start + 1, nameEnd)
      : bytes.toString('latin1', start + 1, nameEnd);
    members.push({ name, start, valueStart, end });
    start = -1;
    valueStart = -1;
  };

  for (let i = 0; i < bytes.length; i++) {
    switch (bytes[i]) {
      case QUOTE: {
        const end = findStringEnd(bytes, i + 1);
        if (depth === 1 && start === -1) {
          start = i;
          nameEnd = end;
        }
        i = end;
        break;
      }
      case OPENING_BRACE:
      case OPENING_BRACKET:
        depth += 1;
        if (depth > JSON_DEPTH_MAX) return TOO_DEEP;
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        if (depth === 1) endMember(i);
        depth -= 1;
        break;
      case COLON:
        memberCount += 1;
        if (depth === 1) valueStart = i + 1;
        break;
      case COMMA:
        if (depth === 1) endMember(i);
        break;
    }
  }
  return { isTooDeep: false, members, hasPlainNames: arePlain(members, text), memberCount };
}

function arePlain(members: readonly JsonMember[], text: string): boolean {
  return !text.includes('\\') || members.every(({ name }) => !name.includes('\\'));
}
