/** More than any honest request has; what walks a body later may then do so by recursion. */
export const JSON_DEPTH_MAX = 128;

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

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** A search by the engine costs as much as looking at so many bytes one by one. */
const SHORT_BYTES_MAX = 48;

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

/** The quote that ends the string; the end of the bytes where there is none. */
function findStringEnd(bytes: Buffer, start: number): number {
  let i = start;
  while (i < bytes.length) {
    const shortEnd = Math.min(i + SHORT_BYTES_MAX, bytes.length);
    for (; i < shortEnd; i++) {
      const byte = bytes[i];
      if (byte === QUOTE) return i;
      if (byte === BACKSLASH) i += 1;
    }
    if (i >= bytes.length) break;
    const quote = bytes.indexOf(QUOTE, i);
    if (quote === -1) break;
    const first = countBackslashes(bytes, i, quote);
    if (first % 2 === 0) return quote;
    i = quote + 1;
  }
  return bytes.length;
}

/** That stand right before a quote. */
function countBackslashes(bytes: Buffer, start: number, quote: number): number {
  let first = quote;
  while (first > start && bytes[first - 1] === BACKSLASH) first -= 1;
  return quote - first;
}
