import { pickInteger, type Random } from '../random.ts';

const REPEATS_USUAL = 3;
const REPEATS_MAX = 64;
const MATCH_CHARS_MAX = 1_000;
/** Repeats of repeats of nothing yield no text, but take time. */
const ATOMS_MAX = 10_000;
const GROUPS_MAX = 32;

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const WORD = `${LOWER}${LOWER.toUpperCase()}${DIGITS}_`;
/** The characters that negated classes choose from. */
const VISIBLE = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');
const CLASSES = new Map([
  ['d', DIGITS],
  ['w', WORD],
  ['s', ' '],
]);
const CONTROLS = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
]);

interface PatternCursor {
  readonly pattern: string;
  readonly random: Random;
  place: number;
  atoms: number;
}

/** Thrown inside this file only, for a pattern that it does not know. */
class UnknownPatternError extends Error {}

/**
 * A text that matches a plain regular expression: characters, classes, groups, alternatives,
 * repeats, and anchors at its ends. `undefined` for an expression that has more, such as a
 * look-ahead. The expression itself is never run: a client wrote it, and it could run forever.
 */
export function generateMatch(pattern: string, random: Random): string | undefined {
  const reading: PatternCursor = { pattern, random, place: 0, atoms: 0 };
  try {
    const text = readAlternatives(reading, 0);
    return reading.place === pattern.length && text.length <= MATCH_CHARS_MAX ? text : undefined;
  } catch (error) {
    if (error instanceof UnknownPatternError) return undefined;
    throw error;
  }
}

function readAlternatives(reading: PatternCursor, depth: number): string {
  if (depth > GROUPS_MAX) throw new UnknownPatternError();
  const alternatives = [readSequence(reading, depth)];
  while (reading.pattern[reading.place] === '|') {
    reading.place += 1;
    alternatives.push(readSequence(reading, depth));
  }
  return alternatives[pickInteger(0, alternatives.length - 1, reading.random)] ?? '';
}

function readSequence(reading: PatternCursor, depth: number): string {
  const { pattern } = reading;
  let text = '';
  while (reading.place < pattern.length && !'|)'.includes(pattern[reading.place] ?? '')) {
    const start = reading.place;
    const once = readAtom(reading, depth);
    const end = reading.place;
    const count = readRepeat(reading);
    const next = reading.place;
    for (let i = 0; i < count; i++) {
      if (text.length > MATCH_CHARS_MAX) throw new UnknownPatternError();
      // The first atom has been read already; each further one is chosen again.
      reading.place = start;
      text += i === 0 ? once : readAtom(reading, depth);
    }
    reading.place = count === 0 ? next : Math.max(next, end);
  }
  return text;
}

function readAtom(reading: PatternCursor, depth: number): string {
  const { pattern, random } = reading;
  const char = pattern[reading.place] ?? '';
  reading.place += 1;
  reading.atoms += 1;
  if (reading.atoms > ATOMS_MAX) throw new UnknownPatternError();
  switch (char) {
    case '^':
      if (reading.place !== 1) throw new UnknownPatternError();
      return '';
    case '$':
      if (reading.place !== pattern.length) throw new UnknownPatternError();
      return '';
    case '(':
      return readGroup(reading, depth);
    case '[':
      return pickChar(readClass(reading), random);
    case '.':
      return pickChar(WORD, random);
    case '\\':
      return pickChar(readEscape(reading), random);
    case '*':
    case '+':
    case '?':
    case '{':
      throw new UnknownPatternError();
    default:
      return char;
  }
}

function readGroup(reading: PatternCursor, depth: number): string {
  if (reading.pattern.startsWith('?:', reading.place)) reading.place += 2;
  else if (reading.pattern[reading.place] === '?') throw new UnknownPatternError();
  const text = readAlternatives(reading, depth + 1);
  if (reading.pattern[reading.place] !== ')') throw new UnknownPatternError();
  reading.place += 1;
  return text;
}

/** The characters that an escape stands for. */
function readEscape(reading: PatternCursor): string {
  const char = reading.pattern[reading.place] ?? '';
  reading.place += 1;
  const known = CLASSES.get(char) ?? CONTROLS.get(char);
  if (known !== undefined) return known;
  if (char === '' || /[a-zA-Z0-9]/.test(char)) throw new UnknownPatternError();
  return char;
}

/** The characters between brackets, ranges included. */
function readClass(reading: PatternCursor): string {
  const { pattern } = reading;
  const isNegated = pattern[reading.place] === '^';
  if (isNegated) reading.place += 1;
  let chars = '';
  while (pattern[reading.place] !== ']') {
    const from = readClassChars(reading);
    const isRange = pattern[reading.place] === '-' && pattern[reading.place + 1] !== ']';
    if (!isRange) {
      chars += from;
      continue;
    }
    reading.place += 1;
    chars += listRange(from, readClassChars(reading));
  }
  reading.place += 1;
  return isNegated ? [...VISIBLE].filter((char) => !chars.includes(char)).join('') : chars;
}

function readClassChars(reading: PatternCursor): string {
  const char = reading.pattern[reading.place];
  if (char === undefined) throw new UnknownPatternError();
  reading.place += 1;
  return char === '\\' ? readEscape(reading) : char;
}

function listRange(from: string, to: string): string {
  const [low, high] = [from.charCodeAt(0), to.charCodeAt(0)];
  if (from.length !== 1 || to.length !== 1 || high < low) throw new UnknownPatternError();
  // Long ranges are whole alphabets, of which the first characters are enough.
  const length = Math.min(high - low + 1, VISIBLE.length);
  return Array.from({ length }, (_, index) => String.fromCharCode(low + index)).join('');
}

const REPEAT = /([*+?])|\{(\d{1,4})(,?)(\d{0,4})\}/y;

function readRepeat(reading: PatternCursor): number {
  REPEAT.lastIndex = reading.place;
  const [whole, sign, least, comma, most] = REPEAT.exec(reading.pattern) ?? [];
  if (whole === undefined) return 1;
  reading.place += whole.length;
  // A lazy repeat matches the same texts.
  if (reading.pattern[reading.place] === '?') reading.place += 1;
  if (sign === '?') return pickInteger(0, 1, reading.random);
  if (sign !== undefined) return pickInteger(1, REPEATS_USUAL, reading.random);
  const min = Number(least);
  if (min > REPEATS_MAX) throw new UnknownPatternError();
  if (comma === '') return min;
  const max = most === '' ? min + REPEATS_USUAL : Number(most);
  return pickInteger(min, Math.max(min, Math.min(max, REPEATS_MAX)), reading.random);
}

function pickChar(chars: string, random: Random): string {
  if (chars === '') throw new UnknownPatternError();
  return chars.charAt(pickInteger(0, chars.length - 1, random));
}
