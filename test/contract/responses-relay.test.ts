import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InferenceEvent } from '../../src/protocol/inference.ts';
import { Refusal } from '../../src/protocol/refusals.ts';
import { createStreamDecoder } from '../../src/protocol/responses/answers/decode-stream.ts';
import { createStreamEncoder } from '../../src/protocol/responses/answers/encode-stream.ts';
import { createResponsesRelay } from '../../src/protocol/responses/answers/relay-stream.ts';
import { createProgress } from '../../src/protocol/responses/answers/response-progress.ts';
import type { ResponseContext } from '../../src/protocol/responses/response-context.ts';
import { createSseDecoder } from '../../src/protocol/sse/sse-decoder.ts';
import { assertInTime } from '../support/time/assert-in-time.ts';
import { eventSequences } from './event-sequences.ts';
import { cutBytes, joinBytes, readMeaning } from './read-meaning.ts';
import { readResponsesStream } from './read-responses-stream.ts';
import { expectTally, readAll, relayAll, rename } from './relay-support.ts';
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
const RUNS = { numRuns: 500, timeMs: 3_000 };
const TERMS = { model: MODEL, context: CONTEXT, seal: undefined };

type Fields = Readonly<Record<string, unknown>>;

const PLAIN: Dialect = {
  ...{ lineEnd: '\n', hasNames: true, hasComments: false, isIndented: false },
  ...{ isUsageReported: true, hasEnding: true, hasUnknown: false, end: 'whole' },
};
const ERROR = { type: 'error', error: { message: 'Of the vendor', code: 'server_is_overloaded' } };
const UNKNOWN = { type: 'vendor.limits', left: 7 };

const toBytes = (text: string) => new TextEncoder().encode(text);
const createRelay = (terms: Parameters<typeof createResponsesRelay>[0] = TERMS) =>
  createResponsesRelay(terms);
const createDecoder = () => createStreamDecoder(undefined);

function encode(events: readonly InferenceEvent[]): string {
  const encoder = createStreamEncoder(CONTEXT);
  return events.map((event) => encoder.encode(event)).join('');
}

const isLast = ({ type }: Fields) =>
  type === 'response.completed' || type === 'response.incomplete';

function toDialect(payloads: readonly Fields[], dialect: Dialect): unknown[] {
  const changed: unknown[] = payloads.map((payload) => {
    if (!isLast(payload)) return payload;
    const { usage, ...response } = payload['response'] as Fields;
    const told = dialect.isUsageReported ? { ...response, usage } : response;
    // Some upstreams do not repeat the answer at its end.
    return { ...payload, response: dialect.hasEnding ? told : { ...told, output: [] } };
  });
  if (dialect.end === 'cut') changed.pop();
  if (dialect.end === 'error') changed.splice(-1, 1, ERROR);
  if (dialect.end === 'trailing') changed.push('[DONE]');
  return dialect.hasUnknown ? changed.flatMap((payload) => [payload, UNKNOWN]) : changed;
}

function writeUpstream(events: readonly InferenceEvent[], dialect: Dialect): Uint8Array {
  const payloads = createSseDecoder()
    .push(toBytes(encode(rename(events, VENDOR_MODEL))))
    .map(({ data }) => JSON.parse(data) as Fields);
  const written = toDialect(payloads, dialect).map(
    (payload): WrittenEvent => ({
      name: typeof payload === 'string' ? undefined : String((payload as Fields)['type']),
      payload,
    }),
  );
  return writeEvents(written, dialect);
}

const RESPONSE: ResponseContext = {
  ...{ echo: {}, toolNames: new Map(), wantsStore: false, previousId: undefined },
  ...{ input: [], requestId: 'req_1', completedSeconds: () => 1 },
};
const USAGE = {
  ...{ input: 1, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 },
  ...{ output: 1, thinking: 0, searches: 0 },
};
const chunkNumbers = fc.array(fc.nat(8), { maxLength: 4 });
const BROKEN = new Refusal('upstream_broken', 'The upstream broke off its answer.');

/** A call that was cut stands in the output, and its end is not sent. */
const isWhole = (item: unknown) => {
  const { type, status } = item as Fields;
  return status !== 'incomplete' || !String(type).endsWith('_call');
};

/** What a client reads if the gateway breaks its silence behind some of the chunks. */
function tellWithSilences(chunks: readonly Uint8Array[], silences: ReadonlySet<number>) {
  const context = { ...CONTEXT, response: { ...RESPONSE, progress: createProgress() } };
  const relay = createRelay({ ...TERMS, context });
  const encoder = createStreamEncoder(context);
  const told: Uint8Array[] = [];
  let ending: 'open' | 'finished' | 'failed' = 'open';
  for (const [i, push] of [
    ...chunks.map((chunk) => () => relay.push(chunk)),
    () => relay.end(),
  ].entries()) {
    if (ending !== 'open') break;
    const { bytes, closing, refusal, nextNumber } = push();
    told.push(...bytes.map((piece) => piece.slice()));
    if (closing !== undefined) {
      told.push(closing(USAGE));
      ending = 'finished';
      continue;
    }
    expect(nextNumber).toBe(context.response.progress.nextNumber);
    if (refusal !== undefined) {
      told.push(toBytes(encoder.encodeError(BROKEN, 'req_1')));
      ending = 'failed';
    } else if (silences.has(i) && told.length > 0) told.push(toBytes(encoder.encodeSilence()));
  }
  const events = createSseDecoder().push(joinBytes(told));
  return { ending, events: events.map(({ data }): Fields => JSON.parse(data)) };
}

describe('the relay of streams of the responses format', () => {
  it('counts what the decoder counts, wherever the stream is cut', () => {
    const outcomes = new Set<string>();
    assertInTime(
      fc.property(eventSequences, dialects, places, ({ events }, dialect, cuts) => {
        const bytes = writeUpstream(events, dialect);
        const read = readAll(bytes, createDecoder());
        const relayed = relayAll(createRelay(), cutBytes(bytes, cuts));
        outcomes.add(read.refusal === undefined ? 'finished' : 'failed');
        expectTally(relayed, read);
        expect(relayed.refusal).toEqual(read.refusal);
      }),
      RUNS,
    );
    expect([...outcomes].sort()).toEqual(['failed', 'finished']);
  });

  it('says what its upstream says, wherever the stream is cut', () => {
    assertInTime(
      fc.property(eventSequences, dialects, places, ({ events }, dialect, cuts) => {
        const bytes = writeUpstream(events, dialect);
        const { events: said, refusal } = readAll(bytes, createDecoder());
        const relayed = relayAll(createRelay(), cutBytes(bytes, cuts));
        const reading = readAll(relayed.bytes, createDecoder());
        expect(reading.events[0]).toMatchObject({ type: 'start', model: MODEL });
        if (refusal !== undefined) return;
        expect(readMeaning(reading.events)).toEqual(readMeaning(said));
      }),
      RUNS,
    );
  });

  it('can be read by the strictest client, and names the upstream and its model nowhere', () => {
    assertInTime(
      fc.property(eventSequences, fc.boolean(), places, (sequence, hasEnding, cuts) => {
        fc.pre(!sequence.isFailed);
        const bytes = writeUpstream(sequence.events, { ...PLAIN, hasEnding });
        const relayed = relayAll(createRelay(), cutBytes(bytes, cuts));
        const events = createSseDecoder().push(relayed.bytes);
        const hasCut = sequence.events.some(
          (event) => event.type === 'finish' && /max|window|refusal/.test(event.stopReason),
        );
        // A call that was cut is only in the end of the upstream.
        if (hasEnding || !hasCut) expect(readResponsesStream(events).ending).toBe('finished');
        for (const { data } of events) {
          const { response } = JSON.parse(data) as { response?: Fields };
          if (response !== undefined)
            expect(response).toMatchObject({ model: MODEL, store: false });
        }
        expect(new TextDecoder().decode(relayed.bytes)).not.toContain(VENDOR_MODEL);
      }),
      RUNS,
    );
  });

  it('passes what is said on byte for byte, with fields that nobody knows', () => {
    const relay = createRelay();
    const start =
      'data: {"type":"response.created","response":{"id":"resp_v","model":"v"}}\n\n' +
      'event: response.output_item.added\ndata: {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m"}}\n\n' +
      'data: {"type":"response.content_part.added","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}}\n\n';
    const said =
      'event: response.output_text.delta\ndata: {"type":"response.output_text.delta", "sequence_number":3, "of_tomorrow":[{}],"output_index":0,"content_index":0,"delta":"H\\u0069"}\n\n';
    relay.push(toBytes(start));
    const part = relay.push(toBytes(said));
    expect(new TextDecoder().decode(part.bytes[0])).toBe(said);
    expect(part.contentBytes).toBe(2);
  });

  it('numbers its events without a gap, whatever is left out, sent in between or lost', () => {
    const ends = new Set<string>();
    assertInTime(
      fc.property(
        eventSequences,
        dialects,
        places,
        chunkNumbers,
        (sequence, dialect, cuts, silences) => {
          const bytes = writeUpstream(sequence.events, dialect);
          const { events, ending } = tellWithSilences(cutBytes(bytes, cuts), new Set(silences));
          ends.add(ending);
          expect(events.map(({ sequence_number: number }) => number)).toEqual([...events.keys()]);
          if (ending !== 'failed') return;
          const [error, failed] = events.slice(-2);
          expect(error).toMatchObject({ type: 'error', error: { code: 'server_error' } });
          const isDone = ({ type }: Fields) => type === 'response.output_item.done';
          const done = events.filter(isDone).map(({ item }) => item);
          const { response } = failed as { readonly response: Fields };
          expect(response).toMatchObject({ status: 'failed', model: MODEL });
          expect((response['output'] as unknown[]).filter(isWhole)).toEqual(done);
        },
      ),
      RUNS,
    );
    expect([...ends].sort()).toEqual(['failed', 'finished']);
  });

  it('makes an event of every sign of life, and none of blank lines', () => {
    const text =
      ': not yet\n\ndata: {"type":"response.created","sequence_number":0,"response":{}}\n\n\n\n' +
      ': thinking\n\ndata: {"type":"keepalive","sequence_number":1}\n\n';
    const relayed = createSseDecoder().push(relayAll(createRelay(), [toBytes(text)]).bytes);
    expect(relayed.slice(1)).toEqual([
      { event: 'keepalive', data: '{"type":"keepalive","sequence_number":1}' },
      { event: 'keepalive', data: '{"type":"keepalive","sequence_number":2}' },
    ]);
  });

  it('fills in what clients expect, and repeats no endless request', () => {
    const instructions = 'long '.repeat(100_000);
    const echo = { instructions, tools: [{ type: 'function', name: 'a' }], metadata: { a: 'b' } };
    const response = { ...RESPONSE, echo };
    const text =
      'data: {"type":"response.created","response":{}}\n\n' +
      'data: {"type":"response.completed","response":{"output":[],"usage":{"input_tokens":1,"output_tokens":1}}}\n\n';
    const { bytes } = relayAll(createRelay({ ...TERMS, context: { ...CONTEXT, response } }), [
      toBytes(text),
    ]);
    const told = createSseDecoder().push(bytes);
    const responses = told.map(({ data }) => JSON.parse(data).response);
    const always = {
      ...{ id: 'resp_1', object: 'response', model: MODEL, store: false, error: null },
      ...{ created_at: CONTEXT.createdSeconds, incomplete_details: null, instructions: null },
      ...{ tools: [], metadata: { a: 'b' } },
    };
    expect(responses).toMatchObject([
      { ...always, status: 'in_progress', usage: null },
      { ...always, status: 'completed', usage: { total_tokens: 2 } },
    ]);
  });

  it('begins and names events for an upstream that does not', () => {
    const said =
      'data: {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m"}}\n\n' +
      'data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Hi"}\n\n' +
      'data: {"type":"response.in_progress","response":{"output":[]}}\n\n';
    const relayed = createSseDecoder().push(relayAll(createRelay(), [toBytes(said)]).bytes);
    expect(relayed.map(({ event }) => event)).toEqual([
      ...['response.created', 'response.output_item.added', 'response.content_part.added'],
      'response.output_text.delta',
    ]);
  });

  it('seals encrypted thoughts wherever they stand, and gives away none', () => {
    const item = { type: 'reasoning', id: 'rs_v', summary: [], encrypted_content: 'of the vendor' };
    const end = {
      status: 'completed',
      output: [item],
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    const payloads = [
      { type: 'response.created', response: { id: 'resp_v', model: 'v' } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: end },
    ];
    const bytes = writeEvents(
      payloads.map((payload) => ({ name: payload.type, payload })),
      PLAIN,
    );
    const seal = () => 'tg1.sealed';
    for (const [terms, carried] of [
      [{ ...TERMS, seal }, 'tg1.sealed'],
      [TERMS, null],
    ] as const) {
      const text = new TextDecoder().decode(relayAll(createRelay(terms), [bytes]).bytes);
      const read = createSseDecoder()
        .push(toBytes(text))
        .map(({ data }) => JSON.parse(data));
      expect(read[1].item.encrypted_content).toBeNull();
      expect(read[2].item.encrypted_content).toBe(carried);
      expect(read[3].response.output[0].encrypted_content).toBe(carried);
      expect(text).not.toContain('of the vendor');
    }
  });
});
