import { createAnswerCollector } from '../../src/protocol/answers/answer-collector.ts';
import { decodeChatAnswer } from '../../src/protocol/chat/answers/decode-answer.ts';
import { createStreamDecoder as createChatDecoder } from '../../src/protocol/chat/answers/decode-stream.ts';
import { encodeAnswer as encodeChatAnswer } from '../../src/protocol/chat/answers/encode-answer.ts';
import { createStreamEncoder as createChatEncoder } from '../../src/protocol/chat/answers/encode-stream.ts';
import { relayChatAnswer } from '../../src/protocol/chat/answers/relay-answer.ts';
import { createChatRelay } from '../../src/protocol/chat/answers/relay-stream.ts';
import type { InferenceEvent } from '../../src/protocol/inference.ts';
import { createStreamDecoder as createNativeDecoder } from '../../src/protocol/native/answers/decode-stream.ts';
import { createStreamEncoder as createNativeEncoder } from '../../src/protocol/native/answers/encode-stream.ts';
import { createNativeRelay } from '../../src/protocol/native/answers/relay-stream.ts';
import { createStreamDecoder as createResponsesDecoder } from '../../src/protocol/responses/answers/decode-stream.ts';
import { createStreamEncoder as createResponsesEncoder } from '../../src/protocol/responses/answers/encode-stream.ts';
import { createResponsesRelay } from '../../src/protocol/responses/answers/relay-stream.ts';
import { createEventReader } from '../../src/protocol/sse/event-reader.ts';
import { createSseDecoder } from '../../src/protocol/sse/sse-decoder.ts';
import type { StreamDecoder } from '../../src/protocol/sse/stream-decoder.ts';
import {
  streamBody,
  type UpstreamKind,
  wholeBody,
} from '../../test/support/upstreams/upstream-answers.ts';
import { cpuMicros, type Twin } from './twin.ts';

const CONTEXT = { createdSeconds: 1_790_000_000, wantsStreamUsage: true };
const USAGE = { input: 120, output: 80 };
const EVENTS = 50;
const MODEL = 'llm-haiku-4.5';
const asItIs = (text: string) => text;
const utf8 = new TextEncoder();

const WHOLE = Buffer.from(wholeBody('chat', 'Lorem ipsum dolor sit amet. '.repeat(12), USAGE));
const streamOf = (kind: UpstreamKind) =>
  Buffer.from(streamBody(kind, Array(EVENTS).fill('Lorem ipsum '), USAGE));
const NATIVE_STREAM = streamOf('native');
const CHAT_STREAM = streamOf('chat');
const RESPONSES_STREAM = streamOf('responses');
const TERMS = { model: MODEL, context: CONTEXT, seal: undefined };

function readAll(bytes: Uint8Array, decoder: StreamDecoder): InferenceEvent[] {
  const events: InferenceEvent[] = [];
  for (const event of createSseDecoder().push(bytes)) {
    for (const decoded of decoder.decode(event)) events.push(decoded);
  }
  return events;
}

/** Does what a conversion between two formats does: each event is read and written anew. */
function writeAnew(
  events: readonly InferenceEvent[],
  encoder: { encode(event: InferenceEvent): string },
): Uint8Array {
  let text = '';
  for (const event of events) text += encoder.encode(event);
  return utf8.encode(text);
}

function relayWhole(): Uint8Array | undefined {
  const { events, closing } = relayChatAnswer(WHOLE, MODEL, CONTEXT);
  const last = events.at(-1);
  return last?.type === 'finish' && last.usage !== undefined ? closing?.(last.usage) : undefined;
}

function writeWholeAnew(): Buffer {
  const collector = createAnswerCollector();
  for (const event of decodeChatAnswer(WHOLE.toString())) collector.add(event);
  return Buffer.from(encodeChatAnswer({ ...collector.finish(), model: MODEL }, CONTEXT));
}

function readKnown(): InferenceEvent[] {
  const events: InferenceEvent[] = [];
  createEventReader(createNativeDecoder()).push(NATIVE_STREAM, events);
  return events;
}

export const ANSWER_TWINS: readonly Twin[] = [
  {
    file: 'src/protocol/chat/answers/relay-answer.ts',
    what: 'a whole answer of 0.6 KB, chat to chat',
    unit: 'us',
    plain: cpuMicros(writeWholeAnew),
    fast: cpuMicros(relayWhole),
  },
  {
    file: 'src/protocol/native/answers/relay-stream.ts',
    what: `a burst of ${EVENTS} events, native to native`,
    unit: 'us',
    plain: cpuMicros(() =>
      writeAnew(readAll(NATIVE_STREAM, createNativeDecoder()), createNativeEncoder()),
    ),
    fast: cpuMicros(() => createNativeRelay(MODEL, asItIs).push(NATIVE_STREAM)),
  },
  {
    file: 'src/protocol/chat/answers/relay-stream.ts',
    what: `a burst of ${EVENTS} events, chat to chat`,
    unit: 'us',
    plain: cpuMicros(() =>
      writeAnew(readAll(CHAT_STREAM, createChatDecoder()), createChatEncoder(CONTEXT)),
    ),
    fast: cpuMicros(() => createChatRelay(MODEL, CONTEXT, asItIs).push(CHAT_STREAM)),
  },
  {
    file: 'src/protocol/responses/answers/relay-stream.ts',
    what: `a burst of ${EVENTS} events, Responses to Responses`,
    unit: 'us',
    plain: cpuMicros(() =>
      writeAnew(
        readAll(RESPONSES_STREAM, createResponsesDecoder(undefined)),
        createResponsesEncoder(CONTEXT),
      ),
    ),
    fast: cpuMicros(() => createResponsesRelay(TERMS).push(RESPONSES_STREAM)),
  },
  {
    file: 'src/protocol/sse/text-frames.ts',
    what: `a burst of ${EVENTS} events read to be written in the other format`,
    unit: 'us',
    plain: cpuMicros(() => readAll(NATIVE_STREAM, createNativeDecoder())),
    fast: cpuMicros(readKnown),
  },
];
