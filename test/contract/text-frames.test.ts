import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tallyDeltas } from '../../src/protocol/answers/count-content-bytes.ts';
import { createStreamDecoder as createChatDecoder } from '../../src/protocol/chat/answers/decode-stream.ts';
import { createChatRelay } from '../../src/protocol/chat/answers/relay-stream.ts';
import type { InferenceEvent } from '../../src/protocol/inference.ts';
import { createStreamDecoder as createNativeDecoder } from '../../src/protocol/native/answers/decode-stream.ts';
import { createNativeRelay } from '../../src/protocol/native/answers/relay-stream.ts';
import { Refusal } from '../../src/protocol/refusals.ts';
import { createStreamDecoder as createResponsesDecoder } from '../../src/protocol/responses/answers/decode-stream.ts';
import { createResponsesRelay } from '../../src/protocol/responses/answers/relay-stream.ts';
import { createEventReader } from '../../src/protocol/sse/event-reader.ts';
import type { StreamDecoder } from '../../src/protocol/sse/stream-decoder.ts';
import { assertInTime } from '../support/time/assert-in-time.ts';
import { cutBytes } from './read-meaning.ts';
import { AS_IT_IS, readAll, relayAll } from './relay-support.ts';
import { jsonTexts, places } from './upstream-dialects.ts';

/**
 * Tests long streams of nearly identical frames, as real streams are, mixed with some frames that
 * only look like them.
 */

const FUZZ_TIME_MS = 2_000;
const RUNS = { numRuns: 500, timeMs: FUZZ_TIME_MS };
const CONTEXT = { createdSeconds: 1, wantsStreamUsage: true };

const toBytes = (text: string) => new TextEncoder().encode(text);

interface Kind {
  readonly name: 'native' | 'chat' | 'padded chat' | 'responses';
  readonly createDecoder: () => StreamDecoder;
  readonly createRelay: () => ReturnType<typeof createNativeRelay>;
  /** Numbers the events of a stream. */
  readonly number: (text: string) => string;
  readonly start: string;
  readonly end: string;
  /** Writes the frame whose text is this content of a JSON string. */
  readonly write: (json: string) => string;
  readonly others: readonly string[];
}

const nativeFrame = (data: string) =>
  `event: ${/"type":"(\w+)"/.exec(data)?.[1]}\ndata: ${data}\n\n`;
const delta = (index: number, inner: string) =>
  nativeFrame(`{"type":"content_block_delta","index":${index},"delta":${inner}}`);
const chunk = (inner: string, more = '') =>
  `data: {"id":"1","model":"v","choices":[{"index":0,"delta":${inner},"finish_reason":null}]${more}}\n\n`;
const CALL = '{"index":0,"id":"a","function":{"name":"look","arguments":"{}"}}';

const NATIVE: Kind = {
  name: 'native',
  createDecoder: createNativeDecoder,
  createRelay: () => createNativeRelay('llm-pinned', AS_IT_IS),
  number: AS_IT_IS,
  start:
    nativeFrame('{"type":"message_start","message":{"id":"msg_1","model":"v"}}') +
    nativeFrame('{"type":"content_block_start","index":0,"content_block":{"type":"text"}}'),
  end:
    nativeFrame('{"type":"message_delta","delta":{},"usage":{"output_tokens":3}}') +
    nativeFrame('{"type":"message_stop"}'),
  write: (json) => delta(0, `{"type":"text_delta","text":"${json}"}`),
  others: [
    delta(1, '{"type":"text_delta","text":"of another block"}'),
    delta(0, '{"type":"text_delta","text":"twice","citations":["twice"]}'),
    delta(0, '{"type":"text_delta","text":"a\\\\","text":"later"}'),
    delta(0, '{"citations":["twice"],"type":"text_delta","text":"twice"}') +
      delta(0, '{"citations":["or not"],"type":"text_delta","text":"twice"}'),
    delta(0, '{"type":"thinking_delta","thinking":"Hm"}'),
    delta(0, '{"type":"input_json_delta","partial_json":"{}"}'),
    nativeFrame('{"type":"ping"}'),
    nativeFrame('{"type":"content_block_stop","index":0}'),
    'data: {"type":"content_block_stop","index":0}\n\n',
    nativeFrame('{"type":"content_block_start","index":0,"content_block":{"type":"text"}}'),
    nativeFrame('{"type":"content_block_start","index":0,"content_block":{"type":"of_tomorrow"}}'),
    nativeFrame('{"type":"error","error":{"type":"overloaded_error","message":"Busy"}}'),
    ': comment\n\n',
    '\n',
  ],
};

const CHAT: Kind = {
  name: 'chat',
  createDecoder: createChatDecoder,
  createRelay: () => createChatRelay('llm-pinned', CONTEXT, AS_IT_IS),
  number: AS_IT_IS,
  start: chunk('{"role":"assistant","content":""}'),
  end: `${chunk('{}').replace('null', '"stop"')}data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\ndata: [DONE]\n\n`,
  write: (json) => chunk(`{"content":"${json}"}`),
  others: [
    chunk('{"content":"with usage"}', ',"usage":{"prompt_tokens":1,"completion_tokens":1}'),
    chunk('{"content":"twice","name":"twice"}'),
    chunk('{"reasoning_content":"Hm"}'),
    chunk('{"refusal":"No"}'),
    chunk(`{"tool_calls":[${CALL}]}`),
    // What follows waits for the arguments of this one.
    chunk('{"tool_calls":[{"index":1,"id":"b","function":{"name":"wait","arguments":""}}]}'),
    chunk('{"content":[{"type":"text","text":"in parts"}]}'),
    chunk('{"content":"other"}').replace('"v"', '"w"'),
    chunk('{"content":"second"}').replace('"index":0', '"index":1'),
    'data: {"error":{"message":"Busy"}}\n\n',
    ': comment\n\n',
    '\n',
  ],
};

/** Its heads, which are replaced, are of various lengths. */
const PADDED_CHAT: Kind = {
  ...CHAT,
  name: 'padded chat',
  write: (json) =>
    CHAT.write(json).replace('{', `{"obfuscation":"${'x'.repeat(1 + (json.length % 7))}",`),
};

const NUMBER = '"the next number"';
const responsesFrame = (data: string) =>
  `event: ${/"type":"([\w.]+)"/.exec(data)?.[1]}\ndata: ${data.replace('{', `{"sequence_number":${NUMBER},`)}\n\n`;
const piece = (json: string, more = '', output = 0) =>
  responsesFrame(
    `{"type":"response.output_text.delta","item_id":"m","output_index":${output},"content_index":0,"delta":"${json}"${more}}`,
  );
const wrongly = (number: string) => piece('with a wrong number').replace(NUMBER, number);
const PADDING = ',"logprobs":[],"obfuscation":"';

const RESPONSES: Kind = {
  name: 'responses',
  createDecoder: () => createResponsesDecoder(undefined),
  createRelay: () =>
    createResponsesRelay({ model: 'llm-pinned', context: CONTEXT, seal: undefined }),
  number(text) {
    let number = 0;
    return text.replaceAll(NUMBER, () => String(number++));
  },
  start:
    responsesFrame('{"type":"response.created","response":{"id":"resp_1","model":"v"}}') +
    responsesFrame(
      '{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m"}}',
    ),
  end: responsesFrame(
    '{"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":1,"output_tokens":2}}}',
  ),
  write: (json) => piece(json, `${PADDING}${'x'.repeat(json.length % 7)}"`),
  others: [
    piece('without padding'),
    piece('of another item', PADDING, 1),
    piece('twice', ',"name":"twice"'),
    piece('with a number behind', ',"more":{"sequence_number":7}'),
    ...['0', '3', '1234567890123456', '-', '1e3', `0,"sequence_number":${NUMBER}`].map(wrongly),
    responsesFrame(
      '{"type":"response.reasoning_text.delta","output_index":0,"content_index":1,"delta":"Hm"}',
    ),
    responsesFrame(
      '{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"All"}',
    ),
    responsesFrame(
      '{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"All of it"}]}}',
    ),
    responsesFrame(
      '{"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}',
    ),
    // What follows waits for the arguments of this one.
    responsesFrame(
      '{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","call_id":"b","name":"wait","arguments":""}}',
    ),
    responsesFrame('{"type":"response.of_tomorrow","output_index":0}'),
    responsesFrame('{"type":"error","error":{"code":"server_is_overloaded","message":"Busy"}}'),
    ': comment\n\n',
    '\n',
  ],
};

const framesOf = (kind: Kind) =>
  fc.array(
    fc.oneof(
      { weight: 12, arbitrary: jsonTexts.map(kind.write) },
      {
        weight: 2,
        arbitrary: jsonTexts.map((json) => kind.write(json).replace(/\}(?=[\]}\n])/g, '}  ')),
      },
      { weight: 2, arbitrary: fc.constantFrom(...kind.others) },
      {
        weight: 1,
        arbitrary: jsonTexts.map((json) => kind.write(json).replaceAll('\n', '\r\n')),
      },
      { weight: 1, arbitrary: jsonTexts.map((json) => kind.write(json).replaceAll('":', '": ')) },
    ),
    { maxLength: 20 },
  );

const streamsOf = (kind: Kind) =>
  framesOf(kind).map((frames) => toBytes(kind.number(kind.start + frames.join('') + kind.end)));

/** Half a character has as many bytes as what it is joined with makes of it. */
const hasHalf = (frame: string) => /\\ud83c(?!\\udf0d)/.test(frame);

const hasUnread = (bytes: Uint8Array) => /second|twice/.test(new TextDecoder().decode(bytes));

const halveFrames = (bytes: Uint8Array) =>
  new TextDecoder()
    .decode(bytes)
    .split(/(?<=\n\n)/)
    .map(toBytes)
    .flatMap((frame) => cutBytes(frame, [Math.floor(frame.length / 2)]));

describe.each([NATIVE, CHAT, PADDED_CHAT, RESPONSES])('texts of a $name stream', (kind) => {
  it('are counted when it is relayed as if each of them had been read', () => {
    assertInTime(
      fc.property(streamsOf(kind), places, (bytes, cuts) => {
        const read = readAll(bytes, kind.createDecoder());
        const relayed = relayAll(kind.createRelay(), cutBytes(bytes, cuts));
        const { events, contentBytes } = tallyDeltas(read.events);
        expect(relayed.events).toEqual(events);
        expect(relayed.refusal).toEqual(read.refusal);
        // Frames that arrive in two pieces always take the slow path.
        const slow = relayAll(kind.createRelay(), halveFrames(bytes));
        expect(relayed.contentBytes).toBe(slow.contentBytes);
        // Chat clients also get further choices and unknown fields, which are not read. If a stream
        // breaks off, they have got what still waits in the decoder.
        const isMore = hasUnread(bytes) || read.refusal !== undefined;
        if (isMore) expect(slow.contentBytes).toBeGreaterThanOrEqual(contentBytes);
        else expect(slow.contentBytes).toBe(contentBytes);
        expect(new TextDecoder().decode(relayed.bytes)).toBe(new TextDecoder().decode(slow.bytes));
      }),
      RUNS,
    );
  });

  it('are counted when they are sent on, however early it breaks off', () => {
    assertInTime(
      fc.property(framesOf(kind), (frames) => {
        const begun = kind.start + frames.filter((frame) => !hasHalf(frame)).join('');
        const broken = relayAll(kind.createRelay(), [toBytes(kind.number(begun))]);
        const ended = relayAll(kind.createRelay(), [toBytes(kind.number(begun + kind.end))]);
        expect(broken.contentBytes).toBe(ended.contentBytes);
      }),
      RUNS,
    );
  });

  it('are emitted when it is translated as if each of them had been read', () => {
    assertInTime(
      fc.property(streamsOf(kind), places, (bytes, cuts) => {
        const read = readAll(bytes, kind.createDecoder());
        const events: InferenceEvent[] = [];
        const reader = createEventReader(kind.createDecoder());
        const readRest = () => {
          for (const piece of cutBytes(bytes, cuts)) {
            reader.push(piece, events);
            if (events.at(-1)?.type === 'finish') return;
          }
          reader.end(events);
        };
        let refusal: unknown;
        try {
          readRest();
        } catch (error) {
          refusal = error;
        }
        expect(events).toEqual(read.events);
        expect(refusal).toEqual(read.refusal);
      }),
      RUNS,
    );
  });

  it('are not looked for in the middle of a frame', () => {
    const relay = kind.createRelay();
    const text = kind.number(kind.start + kind.write('Hello').repeat(10));
    const lastStart = text.trimEnd().lastIndexOf('\n\n') + 2;
    relay.push(toBytes(text.slice(0, lastStart)));
    relay.push(toBytes('data: {}\n'));
    expect(relay.push(toBytes(text.slice(lastStart))).refusal).toBeInstanceOf(Refusal);
  });

  it('that would not be JSON are refused, even behind many that are', () => {
    const text = kind.start + kind.write('Hello').repeat(9) + kind.write('a\tb');
    const bytes = toBytes(kind.number(text));
    expect(relayAll(kind.createRelay(), [bytes]).refusal).toBeInstanceOf(Refusal);
  });
});
