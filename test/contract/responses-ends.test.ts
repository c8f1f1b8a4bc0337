import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InferenceEvent } from '../../src/protocol/inference.ts';
import { createStreamDecoder } from '../../src/protocol/responses/answers/decode-stream.ts';
import { createStreamEncoder } from '../../src/protocol/responses/answers/encode-stream.ts';
import { createResponsesRelay } from '../../src/protocol/responses/answers/relay-stream.ts';
import { createSseDecoder } from '../../src/protocol/sse/sse-decoder.ts';
import { assertInTime } from '../support/time/assert-in-time.ts';
import { eventSequences } from './event-sequences.ts';
import { cutBytes, readMeaning } from './read-meaning.ts';
import { readResponsesStream } from './read-responses-stream.ts';
import { readAll, relayAll, rename } from './relay-support.ts';
import { type Dialect, places, writeEvents } from './upstream-dialects.ts';

const MODEL = 'llm-pinned';
const CONTEXT = { createdSeconds: 1_700_000_000, wantsStreamUsage: true };
const FUZZ_TIME_MS = 3_000;
const RUNS = { numRuns: 250, timeMs: FUZZ_TIME_MS };
const DIALECT: Dialect = {
  ...{ lineEnd: '\n', hasNames: true, hasComments: false, isIndented: false },
  ...{ isUsageReported: true, hasEnding: true, hasUnknown: false, end: 'whole' },
};

type Fields = Readonly<Record<string, unknown>>;

const createRelay = () => createResponsesRelay({ model: MODEL, context: CONTEXT, seal: undefined });

function encode(events: readonly InferenceEvent[]): Fields[] {
  const encoder = createStreamEncoder(CONTEXT);
  const text = rename(events, 'vendor-model').map((event) => encoder.encode(event));
  return createSseDecoder()
    .push(Buffer.from(text.join('')))
    .map(({ data }) => JSON.parse(data) as Fields);
}

function outputOf(payload: Fields | undefined): readonly Fields[] {
  const response = payload?.['response'] as { readonly output: readonly Fields[] } | undefined;
  return response?.output ?? [];
}

/** The last event is changed by `change`, which gets the items that it lists. */
function changeEnd(payloads: readonly Fields[], change: (output: readonly Fields[]) => unknown) {
  const last = payloads.at(-1);
  const response = { ...(last?.['response'] as Fields), output: change(outputOf(last)) };
  return [...payloads.slice(0, -1), { ...last, response }];
}

const toBytes = (payloads: readonly Fields[]) =>
  writeEvents(
    payloads.map((payload) => ({ name: String(payload['type']), payload })),
    DIALECT,
  );

const isDone = ({ type }: Fields) => type === 'response.output_item.done';
const isCutCall = ({ type, status }: Fields) =>
  status === 'incomplete' && String(type).endsWith('_call');

const isRefusal = (event: InferenceEvent) =>
  event.type === 'finish' && event.stopReason === 'refusal';

const LIES = fc.constantFrom<(output: readonly Fields[]) => unknown>(
  () => undefined,
  () => [],
  () => 'nothing',
  (output) => output.toReversed(),
  (output) => output.slice(1),
  (output) => output.map(() => null),
  (output) => output.map((item) => ({ ...item, id: 'msg_other', content: [], summary: [] })),
  (output) => [
    ...output,
    { type: 'function_call', id: 'fc_9', call_id: 'c', name: 'rm', arguments: '{}' },
  ],
);

describe('the end of a relayed stream of the responses format', () => {
  it('lists the items that were sent, whatever its upstream lists there', () => {
    assertInTime(
      fc.property(eventSequences, LIES, places, ({ events, isFailed }, lie, cuts) => {
        fc.pre(!isFailed);
        const payloads = encode(events);
        fc.pre(payloads.some(isDone) && !outputOf(payloads.at(-1)).some(isCutCall));
        const bytes = toBytes(changeEnd(payloads, lie));
        const told = createSseDecoder()
          .push(relayAll(createRelay(), cutBytes(bytes, cuts)).bytes)
          .map(({ data }) => JSON.parse(data) as Fields);
        expect(outputOf(told.at(-1))).toEqual(told.filter(isDone).map(({ item }) => item));
      }),
      RUNS,
    );
  });

  it('is preceded by the ends of items of which the pieces are all that was sent', () => {
    const say = (type: string, place: number, delta: string) => ({
      ...{ type: `response.${type}.delta`, output_index: place, item_id: `item_${place}` },
      ...(type.includes('summary') ? { summary_index: 0 } : { content_index: 0 }),
      delta,
    });
    const pieces = [
      ...['Let me', ' think', '.'].map((text) => say('reasoning_summary_text', 0, text)),
      ...['Hel', 'lo', ' th', 'ere', '!'].map((text) => say('output_text', 1, text)),
      ...['I', ' can', 'not.'].map((text) => say('refusal', 2, text)),
    ];
    const items = [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Let me think.' }] },
      {
        ...{ type: 'message', role: 'assistant', status: 'completed' },
        content: [{ type: 'output_text', text: 'Hello there!', annotations: [] }],
      },
      { type: 'message', content: [{ type: 'refusal', refusal: 'I cannot.' }] },
    ];
    assertInTime(
      fc.property(places, fc.constantFrom(undefined, []), (cuts, output) => {
        const ended = { type: 'response.completed', response: { id: 'resp_1', output } };
        const told = createSseDecoder()
          .push(relayAll(createRelay(), cutBytes(toBytes([...pieces, ended]), cuts)).bytes)
          .map(({ data }) => JSON.parse(data) as Fields);
        const done = told.filter(isDone).map(({ item }) => item as Fields);
        expect(done).toMatchObject(items);
        expect(done.map(({ id }) => id)).toEqual(['item_0', 'item_1', 'item_2']);
        expect(outputOf(told.at(-1))).toEqual(done);
      }),
      RUNS,
    );
  });

  it('lists a call that was cut, and whose end its upstream never sent', () => {
    assertInTime(
      fc.property(eventSequences, places, ({ events, isFailed }, cuts) => {
        fc.pre(!isFailed);
        const payloads = encode(events);
        fc.pre(payloads.some(isDone) && outputOf(payloads.at(-1)).some(isCutCall));
        const told = createSseDecoder()
          .push(relayAll(createRelay(), cutBytes(toBytes(payloads), cuts)).bytes)
          .map(({ data }) => JSON.parse(data) as Fields);
        expect(outputOf(told.at(-1))).toEqual(outputOf(payloads.at(-1)));
      }),
      RUNS,
    );
  });

  it('is preceded by all events of an answer of which its upstream sends the end alone', () => {
    assertInTime(
      fc.property(eventSequences, fc.nat(2), places, ({ events, isFailed }, skipped, cuts) => {
        // What a model refused with is sent as its text.
        fc.pre(!isFailed && !events.some(isRefusal));
        const payloads = encode(events);
        const begun = payloads.slice(0, 2 - skipped);
        const bytes = toBytes([...begun, ...payloads.slice(-1)]);
        const { events: said } = readAll(bytes, createStreamDecoder(undefined));
        fc.pre(said.some(({ type }) => type === 'block_start'));
        const relayed = relayAll(createRelay(), cutBytes(bytes, cuts)).bytes;
        const read = createSseDecoder().push(relayed);
        if (skipped !== 1) expect(readResponsesStream(read).ending).toBe('finished');
        expect(readMeaning(readAll(relayed, createStreamDecoder(undefined)).events)).toEqual(
          readMeaning(said),
        );
        expect(new TextDecoder().decode(relayed)).not.toContain('vendor-model');
      }),
      RUNS,
    );
  });
});
