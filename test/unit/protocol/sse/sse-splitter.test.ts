import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSseDecoder, type SseEvent } from '../../../../src/protocol/sse/sse-decoder.ts';
import { createSseSplitter } from '../../../../src/protocol/sse/sse-splitter.ts';
import { cutBytes, joinBytes } from '../../../contract/read-meaning.ts';

const FUZZ_TIME_MS = 2_000;
const PIECES = 1_000_000;
const LF = 0x0a;
const encode = (text: string) => new TextEncoder().encode(text);
/** With the line ends that an upstream may choose from made one. */
const linesOf = (bytes: Uint8Array) =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).replaceAll(/\r\n?/g, '\n');

/** Splits chunks as a socket brings them: each read reuses the memory of the read before. */
function split(chunks: readonly Uint8Array[]) {
  const splitter = createSseSplitter();
  return chunks.flatMap((bytes) => {
    const chunk = bytes.slice();
    const nextFrame = splitter.open(chunk);
    const frames: { bytes: Uint8Array; event: SseEvent | undefined }[] = [];
    for (let frame = nextFrame(0); frame !== undefined; frame = nextFrame(frame.end)) {
      frames.push({ bytes: frame.bytes.slice(), event: frame.event });
    }
    chunk.fill(0);
    return frames;
  });
}

const pieces = fc.constantFrom(
  'data: 1',
  'event: a',
  ': comment',
  '\n',
  '\r',
  '\r\n',
  '\n\n',
  'ö',
  '\uFEFF',
);
const streams = fc.array(pieces, { maxLength: 40 }).map((parts) => encode(parts.join('')));
const cuts = fc.array(fc.nat(500), { maxLength: 8 });

describe('the frames of a stream', () => {
  it('have the events of the stream, one each at most, wherever it is cut', () => {
    fc.assert(
      fc.property(streams, cuts, (stream, places) => {
        const frames = split(cutBytes(stream, places));
        const events = frames.map(({ event }) => event).filter((event) => event !== undefined);
        expect(events).toEqual(createSseDecoder().push(stream));
      }),
      { numRuns: 2_000, interruptAfterTimeLimit: FUZZ_TIME_MS },
    );
  });

  it('are the lines of the stream, one behind the other, up to where it was cut off', () => {
    fc.assert(
      fc.property(streams, cuts, (stream, places) => {
        const joined = joinBytes(split(cutBytes(stream, places)).map(({ bytes }) => bytes));
        const lines = linesOf(joined);
        expect(linesOf(stream).slice(0, lines.length)).toBe(lines);
        const rest = linesOf(stream).slice(lines.length);
        expect(split([encode(rest)])).toEqual([]);
      }),
      { numRuns: 2_000, interruptAfterTimeLimit: FUZZ_TIME_MS },
    );
  });

  it('end in a line feed, for which many readers wait', () => {
    fc.assert(
      fc.property(streams, cuts, (stream, places) => {
        for (const { bytes } of split(cutBytes(stream, places))) expect(bytes.at(-1)).toBe(LF);
      }),
      { numRuns: 2_000, interruptAfterTimeLimit: FUZZ_TIME_MS },
    );
  });

  it('can each be read alone', () => {
    fc.assert(
      fc.property(streams, cuts, (stream, places) => {
        for (const { bytes, event } of split(cutBytes(stream, places))) {
          const alone: SseEvent[] = createSseDecoder().push(bytes);
          // A byte order mark counts only at the beginning of a stream.
          if (!new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).startsWith('\uFEFF')) {
            expect(alone).toEqual(event === undefined ? [] : [event]);
          }
        }
      }),
      { numRuns: 2_000, interruptAfterTimeLimit: FUZZ_TIME_MS },
    );
  });

  it('take no more memory when they come byte by byte', () => {
    const splitter = createSseSplitter();
    splitter.open(encode('data: "'))(0);
    const byte = encode('x');
    const { heapUsed, external } = process.memoryUsage();
    for (let n = 0; n < PIECES; n += 1) splitter.open(byte)(0);
    const after = process.memoryUsage();
    expect(after.heapUsed + after.external - heapUsed - external).toBeLessThan(64 * PIECES);
    expect(splitter.open(encode('"\n\n'))(0)?.bytes).toHaveLength(PIECES + 10);
  });

  it('do not change when the memory of a chunk is used again', () => {
    const splitter = createSseSplitter();
    const chunk = encode('data: one');
    expect(splitter.open(chunk)(0)).toBeUndefined();
    chunk.fill(0x78);
    const frame = splitter.open(encode('\n\n'))(0);
    expect(new TextDecoder().decode(frame?.bytes)).toBe('data: one\n\n');
  });
});
