import fc from 'fast-check';
import { describe, it } from 'vitest';
import { createSseDecoder, type SseEvent } from '../../src/protocol/sse/sse-decoder.ts';
import { assertInTime } from '../support/time/assert-in-time.ts';

const FUZZ_TIME_MS = 3_000;

const lineEnds = fc.constantFrom('\n', '\r', '\r\n');
const line = fc
  .string({ unit: 'grapheme', maxLength: 20 })
  .map((text) => text.replaceAll(/[\r\n]/g, ''));

/** Lines of an event that carry no data. */
const noise = fc.oneof(
  line.map((text) => `:${text}`),
  line.map((text) => `id: ${text}`),
  fc.constantFrom('retry: 1', 'data2: 1', ' data: 1', 'Data: 1'),
);

interface Written {
  readonly event: SseEvent;
  readonly text: string;
}

const written: fc.Arbitrary<Written> = fc
  .record({
    name: fc.option(
      line.filter((text) => text !== '' && !text.startsWith(' ')),
      { nil: undefined },
    ),
    data: fc.array(line, { minLength: 1, maxLength: 3 }),
    noise: fc.array(noise, { maxLength: 2 }),
    end: lineEnds,
  })
  .map(({ name, data, noise: lines, end }) => ({
    event: { event: name, data: data.join('\n') },
    text: [
      ...lines,
      ...(name === undefined ? [] : [`event:${name}`]),
      ...data.map((text) => `data: ${text}`),
      '',
      '',
    ].join(end),
  }));

const streams = fc
  .record({ events: fc.array(written, { maxLength: 6 }), hasMark: fc.boolean() })
  .map(({ events, hasMark }) => ({
    events: events.map(({ event }) => event),
    bytes: new TextEncoder().encode(
      (hasMark ? '\uFEFF' : '') + events.map(({ text }) => text).join(''),
    ),
  }));

function decode(chunks: readonly Uint8Array[]): SseEvent[] {
  const decoder = createSseDecoder();
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()];
}

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length];
  ends.sort((a, b) => a - b);
  return ends.map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end));
}

const isEqual = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

describe('the decoder of server-sent events', () => {
  it('reads what was written, wherever it is cut', () => {
    assertInTime(
      fc.property(streams, fc.array(fc.nat(10_000), { maxLength: 8 }), (stream, places) =>
        isEqual(decode(cut(stream.bytes, places)), stream.events),
      ),
      { numRuns: 2_000, timeMs: FUZZ_TIME_MS },
    );
  });

  it('reads any bytes one by one as it reads them at once', () => {
    const bytes = fc.oneof(
      streams.map((stream) => stream.bytes),
      fc.uint8Array({ maxLength: 60 }),
      fc
        .array(
          fc
            .constantFrom('data', ':', ' ', '\r', '\n', 'event', 'ö', '\uFEFF', '🌍')
            .map((text) => new TextEncoder().encode(text)),
          { maxLength: 30 },
        )
        .map((pieces) => new Uint8Array(pieces.flatMap((piece) => [...piece]))),
    );
    assertInTime(
      fc.property(bytes, (stream) =>
        isEqual(decode([...stream].map((byte) => new Uint8Array([byte]))), decode([stream])),
      ),
      { numRuns: 2_000, timeMs: FUZZ_TIME_MS },
    );
  });
});
