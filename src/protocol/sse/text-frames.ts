/**
 * FAST TWIN of `src/protocol/sse/sse-decoder.ts`.
 * Held equal by `test/contract/text-frames.test.ts`.
 * Gain: 36 to 19 us, AMD EPYC, Node 20.20 (`bench/NOTES.md`, "Fast twins").
 */

import { asBuffer } from '../../lib/bytes/as-buffer.ts';
import * as ascii from '../../lib/bytes/ascii.ts';
import type { BlockDelta, InferenceEvent } from '../inference.ts';
import { type FrameGap, findGaps, NO_GAPS, readNumber, skipGap } from './frame-gaps.ts';

const { BACKSLASH, CLOSING_BRACE, CLOSING_BRACKET, CR, LF, QUOTE, SPACE } = ascii;

/** The characters that, after a backslash, stand for one byte. */
const SHORT_ESCAPES = new Set([...'"\\/bfnrt'].map((char) => char.charCodeAt(0)));

/** For fewer bytes, making a view takes longer than it saves. */
const VIEWED_BYTES_MIN = 200;
const WORD_BYTES = 4;

const NOTHING = new Uint8Array(0);
const NO_VIEW = new DataView(NOTHING.buffer);

/** Consecutive frames that contain nothing but text. */
export interface TextRun {
  /** The end of each frame. A frame begins where the previous one ends. */
  readonly ends: readonly number[];
  readonly end: number;
  /** The length of all their texts together. */
  readonly contentBytes: number;
}

/**
 * Recognises frames that differ from an already parsed frame only in their text. Most frames of a
 * stream do.
 *
 * The bytes before and after the text equal those of a frame that a parser accepted, apart from the
 * gaps below, and the text itself is valid JSON. So the frame means the same, apart from the text.
 */
export interface TextFrames {
  /**
   * Remembers a frame whose only event is a text. Any other frame makes it forget the last one, as
   * does one with a gap in its first bytes, of which the caller says how many always are the same.
   */
  learn(frame: Uint8Array, events: readonly InferenceEvent[], sameBytes?: number): void;
  forget(): void;
  /**
   * Returns the whole frames from `start` on that are like the remembered frame; `undefined` if
   * there are none.
   */
  skim(chunk: Uint8Array, start: number): TextRun | undefined;
  /** Adds the events of the same frames, and returns where the frames end. */
  read(chunk: Uint8Array, start: number, events: InferenceEvent[]): number;
}

export function createTextFrames(): TextFrames {
  return new LikeFrames();
}

class LikeFrames implements TextFrames {
  /** The remembered frame, in memory of its own: a slice of the pool would keep 8 KB alive. */
  #frame = NOTHING;
  #frameView = NO_VIEW;
  /** The place of the text in the frame. */
  #textStart = 0;
  #textEnd = 0;
  #gapsBefore = NO_GAPS;
  #gapsBehind = NO_GAPS;
  /** The number of the last frame. */
  #number = 0;
  #index = 0;
  #type: Speech['type'] = 'text';

  learn(frame: Uint8Array, events: readonly InferenceEvent[], sameBytes = 0): void {
    this.forget();
    const [event] = events;
    if (events.length !== 1 || event?.type !== 'delta' || !isSpeech(event.delta)) return;
    const place = findText(asBuffer(frame), saidIn(event.delta));
    if (place === undefined) return;
    this.#index = event.index;
    this.#type = event.delta.type;
    // A copy, because the caller may reuse the memory of the frame.
    this.#frame = new Uint8Array(frame);
    this.#frameView = new DataView(this.#frame.buffer);
    this.#textStart = place.start;
    this.#textEnd = place.end;
    this.#gapsBefore = findGaps(frame, 0, place.start);
    this.#gapsBehind = findGaps(frame, place.end, frame.length);
    const numbers = [...this.#gapsBefore, ...this.#gapsBehind].filter(({ isNumber }) => isNumber);
    const [firstGap] = this.#gapsBefore;
    if (numbers.length > 1 || (firstGap !== undefined && firstGap.start < sameBytes)) this.forget();
    for (const { start, end } of numbers) this.#number = readNumber(frame, start, end);
  }

  forget(): void {
    this.#frame = NOTHING;
    this.#frameView = NO_VIEW;
  }

  skim(chunk: Uint8Array, start: number): TextRun | undefined {
    if (this.#frame.length === 0) return undefined;
    const view = viewLong(chunk);
    let text = this.#findNext(chunk, view, start);
    if (text === undefined) return undefined;
    let end = text.frameEnd;
    let contentBytes = text.end - text.start - text.escapes;
    const ends = [end];
    for (;;) {
      text = this.#findNext(chunk, view, end);
      if (text === undefined) break;
      contentBytes += text.end - text.start - text.escapes;
      end = text.frameEnd;
      ends.push(end);
    }
    return { ends, end, contentBytes };
  }

  read(chunk: Uint8Array, start: number, events: InferenceEvent[]): number {
    if (this.#frame.length === 0) return start;
    const source = asBuffer(chunk);
    const view = viewLong(chunk);
    let end = start;
    for (;;) {
      const text = this.#findNext(chunk, view, end);
      if (text === undefined) return end;
      const said = decodeText(source, text);
      const delta: Speech =
        this.#type === 'text' ? { type: 'text', text: said } : { type: 'thinking', thinking: said };
      events.push({ type: 'delta', index: this.#index, delta });
      end = text.frameEnd;
    }
  }

  /** Every frame that is found is the next one of its stream. */
  #findNext(chunk: Uint8Array, view: DataView | undefined, start: number) {
    const before = this.#skipGaps(chunk, view, start, 0, this.#gapsBefore);
    const fixedFrom = this.#gapsBefore.at(-1)?.end ?? 0;
    if (before === -1) return undefined;
    if (!this.#isAlike(chunk, view, before, fixedFrom, this.#textStart)) return undefined;
    const text = findQuoted(chunk, before + this.#textStart - fixedFrom);
    if (text === undefined) return undefined;
    const behind = this.#skipGaps(chunk, view, text.end, this.#textEnd, this.#gapsBehind);
    if (behind === -1) return undefined;
    const from = this.#gapsBehind.at(-1)?.end ?? this.#textEnd;
    const length = this.#frame.length;
    const frameEnd = this.#isAlike(chunk, view, behind, from, length)
      ? behind + length - from
      : skipPadded(chunk, behind, this.#frame, from);
    if (frameEnd === -1) return undefined;
    this.#number += 1;
    return { start: text.start, end: text.end, escapes: text.escapes, frameEnd };
  }

  /**
   * Returns the end of the last gap, if `chunk` from `start` on are like the frame from `from` on
   * up to there; -1 otherwise.
   */
  #skipGaps(
    chunk: Uint8Array,
    view: DataView | undefined,
    start: number,
    from: number,
    gaps: readonly FrameGap[],
  ): number {
    let at = start;
    let alikeFrom = from;
    for (let i = 0; i < gaps.length; i++) {
      const gap = gaps[i] as FrameGap;
      if (!this.#isAlike(chunk, view, at, alikeFrom, gap.start)) return -1;
      const gapStart = at + gap.start - alikeFrom;
      at = skipGap(chunk, gapStart, gap.isNumber);
      if (at === gapStart) return -1;
      if (gap.isNumber && readNumber(chunk, gapStart, at) !== this.#number + 1) return -1;
      alikeFrom = gap.end;
    }
    return at;
  }

  /**
   * Whether `chunk` from `start` on equals the frame between `from` and `to`. By words this takes
   * half as long as byte by byte.
   */
  #isAlike(
    chunk: Uint8Array,
    view: DataView | undefined,
    start: number,
    from: number,
    to: number,
  ): boolean {
    const shift = start - from;
    if (shift + to > chunk.length) return false;
    let i = from;
    if (view !== undefined) {
      const like = this.#frameView;
      for (; i + WORD_BYTES <= to; i += WORD_BYTES) {
        if (view.getInt32(shift + i) !== like.getInt32(i)) return false;
      }
    }
    for (; i < to; i++) if (chunk[shift + i] !== this.#frame[i]) return false;
    return true;
  }
}

function viewLong(chunk: Uint8Array): DataView | undefined {
  if (chunk.length < VIEWED_BYTES_MIN) return undefined;
  return new DataView(chunk.buffer, chunk.byteOffset, chunk.length);
}

/** The place of a text between its quotes. */
interface TextPlace {
  readonly start: number;
  readonly end: number;
  readonly escapes: number;
}

/** Returns `undefined` if a parser has to read the text, or if the text is empty. */
function findQuoted(chunk: Uint8Array, start: number): TextPlace | undefined {
  let escapes = 0;
  for (let i = start; i < chunk.length; i++) {
    const byte = chunk[i] ?? 0;
    if (byte === QUOTE) return i === start ? undefined : { start, end: i, escapes };
    if (byte < SPACE) return undefined;
    if (byte !== BACKSLASH) continue;
    i += 1;
    escapes += 1;
    if (!SHORT_ESCAPES.has(chunk[i] ?? 0)) return undefined;
  }
  return undefined;
}

function decodeText(source: Buffer, { start, end, escapes }: TextPlace): string {
  if (escapes === 0) return source.toString('utf8', start, end);
  return JSON.parse(source.toString('utf8', start - 1, end + 1));
}

/** A tool's input is not among these: later code must see where its JSON ends. */
type Speech = Extract<BlockDelta, { type: 'text' | 'thinking' }>;

const isSpeech = (delta: BlockDelta): delta is Speech =>
  delta.type === 'text' || delta.type === 'thinking';

const saidIn = (delta: Speech) => (delta.type === 'text' ? delta.text : delta.thinking);

/**
 * Finds the text between its quotes. If the frame has no escape, the text is in it unchanged. If
 * the text occurs twice, nobody can tell which of the two it is. A frame may begin with the end of
 * the line before it, or with an empty one, which is not passed on in all formats.
 */
function findText(frame: Buffer, text: string) {
  const isWhole = frame[0] !== LF && frame.at(-1) === LF;
  const isPlain = isWhole && !frame.includes(CR) && !frame.includes(BACKSLASH);
  if (!isPlain) return undefined;
  const quoted = `"${text}"`;
  const start = frame.indexOf(quoted);
  if (start === -1 || frame.lastIndexOf(quoted) !== start) return undefined;
  return { start: start + 1, end: start + Buffer.byteLength(quoted) - 1 };
}

/**
 * Returns the end of the bytes that equal `like` from `from` on, apart from spaces; -1 if there are
 * none. Some upstreams hide the length of a text: they put a varying number of spaces before the
 * closing brackets.
 */
function skipPadded(chunk: Uint8Array, start: number, like: Uint8Array, from: number): number {
  let i = start;
  for (let k = from; k < like.length; k++) {
    while (chunk[i] === SPACE && chunk[i] !== like[k] && isCloser(like[k])) i += 1;
    if (chunk[i] !== like[k]) {
      if (like[k] === SPACE && isCloser(chunk[i])) continue;
      return -1;
    }
    i += 1;
  }
  return i;
}

const isCloser = (byte: number | undefined) =>
  byte === CLOSING_BRACE || byte === CLOSING_BRACKET || byte === LF;
