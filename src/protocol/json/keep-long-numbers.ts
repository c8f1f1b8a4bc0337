import * as ascii from '../../lib/bytes/ascii.ts';
import { isObject } from '../schema.ts';
import { findStringEnd } from './find-string-end.ts';
import { keepInputText } from './input-text.ts';
import type { JsonBody } from './parse-json-body.ts';

const { CLOSING_BRACE, CLOSING_BRACKET, COLON, COMMA, OPENING_BRACE, OPENING_BRACKET, QUOTE } =
  ascii;

type Fields = JsonBody['value'];

/** Where the blocks of a native body are: in each message of a request, or in an answer itself. */
type Holder = 'messages' | 'content';

/** How deep the members of a block are in the value of its holder. */
const DEPTHS: Readonly<Record<Holder, number>> = { messages: 4, content: 2 };
const LONG_NUMBER_MIN = 1e15;
const LONG_NUMBER_CHARS = 16;

/**
 * Keeps the text of each tool's input in a native body, unseen, if reading may have changed a
 * number in it. Such numbers are rare, so the bytes are only searched where the value has one.
 */
export function keepLongNumbers(body: JsonBody, holder: Holder): void {
  const held = body.value[holder];
  const lists = holder === 'messages' ? listOf(held).map(({ content }) => content) : [held];
  const blocks = lists.flatMap(listOf).filter((block) => Object.hasOwn(block, 'input'));
  if (!blocks.some(({ input }) => hasLongNumber(input))) return;
  const texts = findInputs(body, holder);
  for (const [i, { input }] of blocks.entries()) {
    const text = texts[i];
    if (text !== undefined && isObject(input) && says(text, input)) keepInputText(input, text);
  }
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function hasLongNumber(value: unknown): boolean {
  if (typeof value === 'number') {
    return Math.abs(value) >= LONG_NUMBER_MIN || String(value).length >= LONG_NUMBER_CHARS;
  }
  return typeof value === 'object' && value !== null && Object.values(value).some(hasLongNumber);
}

/** Where a name occurs twice, the place of a text may belong to another value. */
function says(text: string, input: Fields): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(input);
  } catch {
    return false;
  }
}

/** Returns the texts of all members `input` of blocks, in their order. */
function findInputs({ bytes, members }: JsonBody, holder: Holder): readonly string[] {
  const member = members.findLast(({ name }) => name === holder);
  if (member === undefined) return [];
  const texts: string[] = [];
  let depth = 0;
  let name = '';
  let start = -1;
  const endMember = (end: number) => {
    if (start !== -1) texts.push(bytes.toString('utf8', start, end).trim());
    start = -1;
  };
  for (let i = member.valueStart; i < member.end; i++) {
    const isInBlock = depth === DEPTHS[holder];
    switch (bytes[i]) {
      case QUOTE: {
        const end = findStringEnd(bytes, i + 1);
        if (isInBlock && start === -1) name = bytes.toString('latin1', i + 1, end);
        i = end;
        break;
      }
      case COLON:
        if (isInBlock && name === 'input') start = i + 1;
        name = '';
        break;
      case COMMA:
        if (isInBlock) endMember(i);
        break;
      case OPENING_BRACE:
      case OPENING_BRACKET:
        depth += 1;
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        if (isInBlock) endMember(i);
        depth -= 1;
        break;
    }
  }
  return texts;
}
