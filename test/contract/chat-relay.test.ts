import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createStreamDecoder } from '../../src/protocol/chat/answers/decode-stream.ts';
import { createStreamEncoder } from '../../src/protocol/chat/answers/encode-stream.ts';
import { createChatRelay } from '../../src/protocol/chat/answers/relay-stream.ts';
import type { InferenceEvent } from '../../src/protocol/inference.ts';
import { createSseDecoder } from '../../src/protocol/sse/sse-decoder.ts';
import { assertInTime } from '../support/time/assert-in-time.ts';
import { type EventSequence, eventSequences } from './event-sequences.ts';
import { readChatStream } from './read-chat-stream.ts';
import { cutBytes, readMeaning } from './read-meaning.ts';
import { AS_IT_IS, expectTally, readAll, relayAll, rename } from './relay-support.ts';
import {
  type Dialect,
  dialects,
  places,
  type WrittenEvent,
  writeEvents,
} from './upstream-dialects.ts';

const MODEL = 'llm-pinned';
const VENDOR_MODEL = 'vendor-model';
const CONTEXT = { createdSeconds: 1_700_000_000, wantsStreamUsage: true };
const FUZZ_TIME_MS = 3_000;
const RUNS = { numRuns: 500, timeMs: FUZZ_TIME_MS };

type Fields = Readonly<Record<string, unknown>>;

interface Choice extends Fields {
  readonly delta: Fields;
  readonly finish_reason: string | null;
}

interface Chunk extends Fields {
  readonly choices: readonly Choice[];
  readonly usage?: unknown;
}

interface ChatDialect extends Dialect {
  readonly isSorted: boolean;
  readonly isUsageEarly: boolean;
  readonly isUsageEverywhere: boolean;
  readonly isReasonEarly: boolean;
}

const chatDialects: fc.Arbitrary<ChatDialect> = fc
  .tuple(
    dialects,
    fc.record({
      isSorted: fc.boolean(),
      isUsageEarly: fc.boolean(),
      isUsageEverywhere: fc.boolean(),
      isReasonEarly: fc.boolean(),
    }),
  )
  .map(([dialect, more]) => ({ ...dialect, ...more }));

const toBytes = (text: string) => new TextEncoder().encode(text);

function encode(events: readonly InferenceEvent[]): string {
  const encoder = createStreamEncoder(CONTEXT);
  return events.map((event) => encoder.encode(event)).join('');
}

const NOISE: readonly Fields[] = [
  { id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [{}] },
];
const SILENCE: Choice = {
  index: 0,
  delta: { content: null, tool_calls: null },
  finish_reason: null,
};
const ERROR = { error: { message: 'Of the vendor', type: 'server_error', code: 503 } };

/** Moves the finish reason to the chunk with the last text, as many upstreams send it. */
function moveReason(chunks: readonly Chunk[]): Chunk[] {
  const at = chunks.findIndex(({ choices }) => choices.some((choice) => choice.finish_reason));
  const [last, before] = [chunks[at], chunks[at - 1]];
  if (last === undefined || before === undefined) return [...chunks];
  const choices = before.choices.map((choice) => ({
    ...choice,
    finish_reason: last.choices[0]?.finish_reason ?? null,
  }));
  return [...chunks.slice(0, at - 1), { ...before, choices }, ...chunks.slice(at + 1)];
}

function placeUsage(chunks: readonly Chunk[], dialect: ChatDialect): Chunk[] {
  const usage = chunks.at(-1)?.usage;
  const spoken = chunks.filter(({ choices }) => choices.length > 0);
  if (!dialect.isUsageReported) return spoken;
  if (dialect.isUsageEverywhere) return spoken.map((chunk) => ({ ...chunk, usage }));
  if (!dialect.isUsageEarly) return [...chunks];
  return [...spoken.slice(0, -1), ...spoken.slice(-1).map((chunk) => ({ ...chunk, usage }))];
}

const sortFields = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));

function writeUpstream({ events }: EventSequence, dialect: ChatDialect): Uint8Array {
  const chunks = createSseDecoder()
    .push(toBytes(encode(rename(events, VENDOR_MODEL))))
    .filter(({ data }) => data !== '[DONE]')
    .map(({ data }) => JSON.parse(data) as Chunk);
  const placed = placeUsage(dialect.isReasonEarly ? moveReason(chunks) : chunks, dialect);
  const noisy: readonly Fields[] = dialect.hasUnknown
    ? [...NOISE, ...placed.flatMap((chunk) => [chunk, { ...chunk, choices: [SILENCE] }])]
    : placed;
  const payloads: unknown[] = noisy.map((chunk) => (dialect.isSorted ? sortFields(chunk) : chunk));
  if (dialect.end === 'cut') payloads.pop();
  if (dialect.end === 'error') payloads.splice(-1, 1, ERROR);
  if (dialect.end !== 'cut' && dialect.hasEnding) payloads.push('[DONE]');
  if (dialect.end === 'trailing') payloads.push('[DONE]', 'junk');
  const written = payloads.map((payload): WrittenEvent => ({ name: undefined, payload }));
  return writeEvents(written, dialect);
}

describe('the relay of chat streams', () => {
  it('counts what the decoder counts, wherever the stream is cut', () => {
    assertInTime(
      fc.property(eventSequences, chatDialects, places, (sequence, dialect, cuts) => {
        const bytes = writeUpstream(sequence, dialect);
        const read = readAll(bytes, createStreamDecoder());
        const relayed = relayAll(createChatRelay(MODEL, CONTEXT, AS_IT_IS), cutBytes(bytes, cuts));
        expectTally(relayed, read);
        expect(relayed.refusal).toEqual(read.refusal);
      }),
      RUNS,
    );
  });

  it('says what decoding and encoding would say, wherever the stream is cut', () => {
    const outcomes = new Set<string>();
    assertInTime(
      fc.property(eventSequences, chatDialects, places, (sequence, dialect, cuts) => {
        const bytes = writeUpstream(sequence, dialect);
        const { events: said, refusal } = readAll(bytes, createStreamDecoder());
        const relayed = relayAll(createChatRelay(MODEL, CONTEXT, AS_IT_IS), cutBytes(bytes, cuts));
        const reading = readAll(relayed.bytes, createStreamDecoder());
        const expected = readAll(toBytes(encode(rename(said, MODEL))), createStreamDecoder());
        outcomes.add(refusal === undefined ? 'finished' : 'failed');
        expect(reading.refusal?.message).toBe(expected.refusal?.message);
        expect(reading.events[0]).toEqual(expected.events[0]);
        if (refusal === undefined) {
          expect(readMeaning(reading.events)).toEqual(readMeaning(expected.events));
        }
      }),
      RUNS,
    );
    expect([...outcomes].sort()).toEqual(['failed', 'finished']);
  });

  it('names the pinned model in every chunk, and its upstream in none', () => {
    assertInTime(
      fc.property(eventSequences, chatDialects, places, (sequence, dialect, cuts) => {
        const bytes = writeUpstream(sequence, dialect);
        const relayed = relayAll(createChatRelay(MODEL, CONTEXT, AS_IT_IS), cutBytes(bytes, cuts));
        for (const { data } of createSseDecoder().push(relayed.bytes)) {
          if (data === '[DONE]') continue;
          const chunk = JSON.parse(data) as Fields;
          expect(Object.keys(chunk).slice(0, 5)).toEqual([
            'id',
            'object',
            'created',
            'model',
            'choices',
          ]);
          expect(chunk).toMatchObject({ id: 'chatcmpl-0123456789', model: MODEL });
        }
        expect(new TextDecoder().decode(relayed.bytes)).not.toContain(VENDOR_MODEL);
      }),
      RUNS,
    );
  });

  it('can be read by the strictest client, with usage for those who asked alone', () => {
    const plain = {
      lineEnd: '\n',
      hasNames: false,
      hasComments: false,
      isIndented: false,
      isUsageReported: true,
      hasEnding: true,
      hasUnknown: false,
      end: 'whole',
      isSorted: false,
      isReasonEarly: false,
    } as const;
    const placements = fc.record({ isUsageEarly: fc.boolean(), isUsageEverywhere: fc.boolean() });
    assertInTime(
      fc.property(eventSequences, placements, places, (sequence, placement, cuts) => {
        fc.pre(!sequence.isFailed);
        const bytes = writeUpstream(sequence, { ...plain, ...placement });
        const relayed = relayAll(createChatRelay(MODEL, CONTEXT, AS_IT_IS), cutBytes(bytes, cuts));
        const { text, tools, ending } = readChatStream(createSseDecoder().push(relayed.bytes));
        expect({ text, tools, ending }).toEqual({
          text: sequence.text,
          tools: sequence.tools,
          ending: 'finished',
        });
        const unasked = { ...CONTEXT, wantsStreamUsage: false };
        const silent = relayAll(createChatRelay(MODEL, unasked, AS_IT_IS), cutBytes(bytes, cuts));
        expect(new TextDecoder().decode(silent.bytes)).not.toContain('prompt_tokens');
        expect(silent.events).toEqual(relayed.events);
        expect(silent.contentBytes).toBe(relayed.contentBytes);
      }),
      RUNS,
    );
  });

  it('passes nothing on before the start', () => {
    const relay = createChatRelay(MODEL, CONTEXT, AS_IT_IS);
    const early = `: keepalive\n\ndata: ${JSON.stringify(NOISE[0])}\n\n`;
    expect(relay.push(toBytes(early))).toEqual({
      bytes: [],
      events: [],
      contentBytes: 0,
      refusal: undefined,
    });
  });

  it('passes what a chunk says on byte for byte, with fields that nobody knows', () => {
    const relay = createChatRelay(MODEL, CONTEXT, AS_IT_IS);
    const head = `data: {"id":"x","object":"o","created":1,"model":"${VENDOR_MODEL}","choices":`;
    const rest = '[ {"delta":{"content":"H\\u0069"},"index":0, "of_tomorrow":[{}]}],"p":"}"}\n\n';
    const part = relay.push(toBytes(head + rest));
    const text = new TextDecoder().decode(part.bytes.at(-1));
    expect(text).toBe(rest);
    expect(part.bytes.at(-1)?.buffer.byteLength).toBe(head.length + rest.length);
  });
});
