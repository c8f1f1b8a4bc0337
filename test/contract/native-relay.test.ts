import { createAnthropic } from '@ai-sdk/anthropic';
import { streamText } from 'ai';
import Anthropic from 'anthropic-sdk-1';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tallyDeltas } from '../../src/protocol/answers/count-content-bytes.ts';
import { NO_USAGE } from '../../src/protocol/answers/no-usage.ts';
import type { InferenceEvent } from '../../src/protocol/inference.ts';
import { createStreamDecoder } from '../../src/protocol/native/answers/decode-stream.ts';
import { createStreamEncoder } from '../../src/protocol/native/answers/encode-stream.ts';
import { createNativeRelay } from '../../src/protocol/native/answers/relay-stream.ts';
import { createSseDecoder } from '../../src/protocol/sse/sse-decoder.ts';
import { assertInTime } from '../support/time/assert-in-time.ts';
import { eventSequences } from './event-sequences.ts';
import { cutBytes, joinBytes } from './read-meaning.ts';
import { readNativeStream } from './read-native-stream.ts';
import { AS_IT_IS, readAll, relayAll, rename, withoutCounts } from './relay-support.ts';
import {
  type Dialect,
  dialects,
  places,
  type WrittenEvent,
  writeEvents,
} from './upstream-dialects.ts';

const MODEL = 'llm-pinned';
const FUZZ_TIME_MS = 3_000;
const RUNS = { numRuns: 500, timeMs: FUZZ_TIME_MS };

const PLAIN: Dialect = {
  ...{ lineEnd: '\n', hasNames: true, hasComments: false, isIndented: false },
  ...{ isUsageReported: true, hasEnding: true, hasUnknown: false, end: 'whole' },
};
const EVENT_STREAM = { 'content-type': 'text/event-stream' };
const USAGE = { ...NO_USAGE, input: 5, output: 7 };
const ANSWER: readonly InferenceEvent[] = [
  { type: 'start', id: 'msg_1', model: 'vendor', usage: USAGE },
  { type: 'block_start', index: 0, block: { type: 'text' } },
  { type: 'delta', index: 0, delta: { type: 'text', text: 'Hello' } },
  { type: 'block_stop', index: 0 },
  { type: 'finish', stopReason: 'end_turn', stopSequence: undefined, usage: USAGE },
];

type Payload = Readonly<Record<string, unknown>>;

const UNKNOWN: readonly Payload[] = [
  { type: 'event_of_tomorrow' },
  { type: 'content_block_start', index: 77, content_block: { type: 'server_tool_use', id: 's' } },
  { type: 'content_block_delta', index: 77, delta: { type: 'text_delta', text: 'unknown' } },
  { type: 'content_block_stop', index: 77 },
];
const ERROR = { type: 'error', error: { type: 'overloaded_error', message: 'Of the vendor' } };

const nameOf = (payload: Payload): WrittenEvent => ({ name: String(payload['type']), payload });

function toDialect(payloads: readonly Payload[], dialect: Dialect): WrittenEvent[] {
  const changed = payloads.flatMap((payload): Payload[] => {
    if (payload['type'] === 'message_start' && dialect.hasUnknown) return [payload, ...UNKNOWN];
    if (payload['type'] !== 'message_delta') return [payload];
    if (!dialect.hasEnding) return [];
    return [dialect.isUsageReported ? payload : { ...payload, usage: null }];
  });
  if (dialect.end === 'cut') changed.pop();
  if (dialect.end === 'error') changed.splice(-1, 1, ERROR);
  const written = changed.map(nameOf);
  return dialect.end === 'trailing' ? [...written, { name: 'done', payload: '[DONE]' }] : written;
}

function encode(events: readonly InferenceEvent[]): string {
  const encoder = createStreamEncoder();
  return events.map((event) => encoder.encode(event)).join('');
}

const toBytes = (text: string) => new TextEncoder().encode(text);

function writeUpstream(events: readonly InferenceEvent[], dialect: Dialect): Uint8Array {
  const payloads = createSseDecoder()
    .push(toBytes(encode(events)))
    .map(({ data }) => JSON.parse(data) as Payload);
  return writeEvents(toDialect(payloads, dialect), dialect);
}

describe('the relay of native streams', () => {
  it('counts what the decoder counts, wherever the stream is cut', () => {
    assertInTime(
      fc.property(eventSequences, dialects, places, ({ events }, dialect, cuts) => {
        const bytes = writeUpstream(events, dialect);
        const read = readAll(bytes, createStreamDecoder());
        const relayed = relayAll(createNativeRelay(MODEL, AS_IT_IS), cutBytes(bytes, cuts));
        expect(relayed).toMatchObject(tallyDeltas(read.events));
        expect(relayed.refusal).toEqual(read.refusal);
      }),
      RUNS,
    );
  });

  it('says what decoding and encoding would say, wherever the stream is cut', () => {
    assertInTime(
      fc.property(eventSequences, dialects, places, ({ events }, dialect, cuts) => {
        const bytes = writeUpstream(events, dialect);
        const { events: said } = readAll(bytes, createStreamDecoder());
        const relayed = relayAll(createNativeRelay(MODEL, AS_IT_IS), cutBytes(bytes, cuts));
        const reading = readAll(relayed.bytes, createStreamDecoder());
        const expected = readAll(toBytes(encode(rename(said, MODEL))), createStreamDecoder());
        expect(withoutCounts(reading.events)).toEqual(withoutCounts(expected.events));
        expect(reading.refusal?.message).toBe(expected.refusal?.message);
      }),
      RUNS,
    );
  });

  it('can be read by the strictest client, unless its upstream says what none knows', () => {
    assertInTime(
      fc.property(eventSequences, dialects, places, ({ events, isFailed }, dialect, cuts) => {
        fc.pre(!isFailed && !dialect.hasUnknown && ['whole', 'trailing'].includes(dialect.end));
        const bytes = writeUpstream(events, dialect);
        const relayed = relayAll(createNativeRelay(MODEL, AS_IT_IS), cutBytes(bytes, cuts));
        expect(readNativeStream(createSseDecoder().push(relayed.bytes)).ending).toBe('finished');
      }),
      RUNS,
    );
  });

  it.each([
    ['\n', 1],
    ['\r\n', 1],
    ['\r\n', 1_000],
    ['\r', 1],
  ] as const)('gives a real client its end, with lines that end in %j', async (lineEnd, cuts) => {
    const bytes = writeUpstream(ANSWER, { ...PLAIN, lineEnd });
    const chunks = cutBytes(
      bytes,
      Array.from({ length: cuts }, (_, place) => place),
    );
    const relayed = relayAll(createNativeRelay(MODEL, AS_IT_IS), chunks).bytes;
    const fetch = async () => new Response(relayed.slice(), { headers: EVENT_STREAM });
    const model = createAnthropic({ apiKey: 'sk-test', fetch })(MODEL);
    const result = streamText({ model, prompt: 'Hi' });
    expect(await result.text).toBe('Hello');
    expect(await result.finishReason).toBe('stop');
    expect((await result.usage).outputTokens).toBe(7);
  });

  it('passes everything behind the start on byte for byte', () => {
    assertInTime(
      fc.property(eventSequences, fc.boolean(), places, ({ events }, hasComments, cuts) => {
        const dialect = { ...PLAIN, hasComments, hasUnknown: true };
        const written = new TextDecoder().decode(writeUpstream(events, dialect));
        const relayed = relayAll(
          createNativeRelay(MODEL, AS_IT_IS),
          cutBytes(toBytes(written), cuts),
        );
        const isComment = (frame: string) => frame.startsWith(':');
        const framesOf = (text: string) =>
          text.slice(text.indexOf('message_start')).split('\n\n').slice(1);
        const expected = framesOf(written);
        const actual = framesOf(new TextDecoder().decode(relayed.bytes));
        expect(actual.filter((frame) => !isComment(frame))).toEqual(
          expected.filter((frame) => !isComment(frame)),
        );
        // Comments after the end come too late to be passed on.
        const comments = actual.filter(isComment);
        expect(comments.length).toBeGreaterThanOrEqual(expected.filter(isComment).length - 1);
      }),
      RUNS,
    );
  });

  it('gives bytes on in one piece where they came in one', () => {
    const relay = createNativeRelay(MODEL, AS_IT_IS);
    const delta = encode([{ type: 'delta', index: 0, delta: { type: 'text', text: 'Hi' } }]);
    const start: InferenceEvent[] = [
      {
        type: 'start',
        id: 'msg_1',
        model: 'vendor',
        usage: {
          input: 1,
          cacheRead: 0,
          cacheWrite5m: 0,
          cacheWrite1h: 0,
          output: 0,
          thinking: 0,
          searches: 0,
        },
      },
      { type: 'block_start', index: 0, block: { type: 'text' } },
    ];
    relay.push(toBytes(encode(start)));
    const part = relay.push(toBytes(delta.repeat(100)));
    expect(part.bytes).toHaveLength(1);
    expect(part.contentBytes).toBe(200);
  });

  it('sends at the start what the upstream sent there, but for its costs', () => {
    const told = { service_tier: 'priority', speed: 'fast', inference_geo: null, cost: 3 };
    const usage = { ...told, input_tokens: 5, output_tokens: 1 };
    const message = { id: 'msg_1', model: 'vendor', container: { id: 'c' }, provider: 'p', usage };
    const relay = createNativeRelay(MODEL, AS_IT_IS);
    const { bytes } = relay.push(writeEvents([nameOf({ type: 'message_start', message })], PLAIN));
    const [start] = createSseDecoder().push(joinBytes(bytes));
    const { cost, ...shown } = told;
    expect(JSON.parse(start?.data ?? '').message).toEqual({
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: MODEL, content: [] },
      ...{ container: { id: 'c' }, stop_reason: null, stop_sequence: null },
      usage: {
        ...shown,
        ...{ input_tokens: 5, output_tokens: 0 },
        ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      },
    });
  });

  it('passes nothing on before the start', () => {
    const relay = createNativeRelay(MODEL, AS_IT_IS);
    const early = ': keepalive\n\nevent: ping\ndata: {"type":"ping"}\n\n';
    expect(relay.push(toBytes(early))).toEqual({
      bytes: [],
      events: [],
      contentBytes: 0,
      closing: undefined,
      refusal: undefined,
    });
  });

  it('adds to an end what it does not report, and takes nothing back', () => {
    const usage = { input_tokens: 5, output_tokens: 1 };
    const message = { id: 'msg_1', model: 'vendor', usage };
    const endings = [{ input_tokens: 9 }, { output_tokens: 7 }, null].map((told) => ({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: told,
    }));
    const payloads = [{ type: 'message_start', message }, ...endings, { type: 'message_stop' }];
    const written = payloads.map((payload) => `data: ${JSON.stringify(payload)}\n\n`).join('');
    const { bytes } = relayAll(createNativeRelay(MODEL, AS_IT_IS), [toBytes(written)]);
    const told = createSseDecoder()
      .push(bytes)
      .map(({ data }) => JSON.parse(data))
      .filter(({ type }) => type === 'message_delta');
    expect(told.map(({ usage: last }) => [last.input_tokens, last.output_tokens])).toEqual([
      [9, 0],
      [undefined, 7],
      [9, 7],
    ]);
  });

  it('sends a real client the reason, in whichever of its ends an upstream reports it', async () => {
    const reason = { stop_reason: 'tool_use', stop_sequence: null };
    const ends = [
      { type: 'message_delta', delta: reason, usage: { output_tokens: 1 } },
      { type: 'message_delta', delta: { container: null }, usage: { output_tokens: 4 } },
    ];
    for (const order of [ends, ends.toReversed()]) {
      const message = { id: 'msg_1', model: 'vendor', usage: { input_tokens: 5 } };
      const payloads = [{ type: 'message_start', message }, ...order, { type: 'message_stop' }];
      const bytes = writeEvents(payloads.map(nameOf), PLAIN);
      const relayed = relayAll(createNativeRelay(MODEL, AS_IT_IS), [bytes]).bytes;
      const client = new Anthropic({
        apiKey: 'sk-test',
        fetch: async () => new Response(relayed.slice(), { headers: EVENT_STREAM }),
      });
      const stream = client.messages.stream({ model: MODEL, max_tokens: 9, messages: [] });
      const final = await stream.finalMessage();
      expect([final.stop_reason, final.usage.output_tokens]).toEqual(['tool_use', 4]);
    }
  });

  it('lets no name of an event break out of its line', () => {
    const relay = createNativeRelay(MODEL, AS_IT_IS);
    const start = { type: 'message_start', message: { id: 'msg_1', model: 'vendor' } };
    relay.push(toBytes(`data: ${JSON.stringify(start)}\n\n`));
    const evil = { type: 'a\ndata: evil' };
    expect(relay.push(toBytes(`data: ${JSON.stringify(evil)}\n\n`)).bytes).toEqual([]);
  });

  it('does not hold what never ends', () => {
    const relay = createNativeRelay(MODEL, AS_IT_IS);
    const comments = toBytes(': keepalive\n'.repeat(100_000));
    const refusals = Array.from({ length: 12 }, () => relay.push(comments).refusal);
    expect(refusals.filter((refusal) => refusal !== undefined)).toHaveLength(1);
  });
});
