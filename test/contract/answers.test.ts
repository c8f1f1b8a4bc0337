import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeChatAnswer } from '../../src/protocol/chat/answers/decode-answer.ts';
import { createStreamDecoder as createChatDecoder } from '../../src/protocol/chat/answers/decode-stream.ts';
import { chatFormat } from '../../src/protocol/chat/chat-format.ts';
import type { Format } from '../../src/protocol/format.ts';
import type { InferenceEvent } from '../../src/protocol/inference.ts';
import { decodeNativeAnswer } from '../../src/protocol/native/answers/decode-answer.ts';
import { createStreamDecoder as createNativeDecoder } from '../../src/protocol/native/answers/decode-stream.ts';
import { nativeFormat } from '../../src/protocol/native/native-format.ts';
import { decodeResponsesAnswer } from '../../src/protocol/responses/answers/decode-answer.ts';
import { createStreamDecoder as createResponsesDecoder } from '../../src/protocol/responses/answers/decode-stream.ts';
import { responsesFormat } from '../../src/protocol/responses/responses-format.ts';
import { assertInTime } from '../support/time/assert-in-time.ts';
import { eventSequences } from './event-sequences.ts';
import {
  collectAnswer,
  decodeBytes,
  type Meaning,
  readMeaning,
  throughChat,
  throughResponses,
} from './read-meaning.ts';

const FUZZ_TIME_MS = 2_000;
const CONTEXT = { createdSeconds: 1_700_000_000, wantsStreamUsage: true };

interface Kind {
  readonly name: Format['name'];
  /** Encodes the events and decodes them again, as a stream and as a whole answer. */
  readonly stream: (events: readonly InferenceEvent[]) => readonly InferenceEvent[];
  readonly whole: (events: readonly InferenceEvent[]) => readonly InferenceEvent[];
  readonly keep: (meaning: Meaning) => Meaning;
}

function encodeStream(format: Format, events: readonly InferenceEvent[]): Uint8Array {
  const encoder = format.createStreamEncoder(CONTEXT);
  return new TextEncoder().encode(events.map((event) => encoder.encode(event)).join(''));
}

const encodeWhole = (format: Format, events: readonly InferenceEvent[]) =>
  format.encodeAnswer(collectAnswer(events), CONTEXT);

const KINDS: readonly Kind[] = [
  {
    name: 'native',
    stream: (events) => decodeBytes(encodeStream(nativeFormat, events), createNativeDecoder()),
    whole: (events) => decodeNativeAnswer(encodeWhole(nativeFormat, events)),
    keep: (meaning) => meaning,
  },
  {
    name: 'chat',
    stream: (events) => decodeBytes(encodeStream(chatFormat, events), createChatDecoder()),
    whole: (events) => decodeChatAnswer(encodeWhole(chatFormat, events)),
    keep: throughChat,
  },
  {
    name: 'responses',
    stream: (events) =>
      decodeBytes(encodeStream(responsesFormat, events), createResponsesDecoder(undefined)),
    whole: (events) => decodeResponsesAnswer(encodeWhole(responsesFormat, events), undefined),
    keep: throughResponses,
  },
];

const WAYS = KINDS.flatMap((upstream) => KINDS.map((client) => [upstream, client] as const));

describe.each(WAYS.map(([upstream, client]) => ({ upstream, client })))(
  'an answer of a $upstream.name upstream to a $client.name client',
  ({ upstream, client }) => {
    it('says the same at both ends, streamed, as a whole and from one to the other', () => {
      assertInTime(
        fc.property(eventSequences, ({ events, isFailed, text, visibleText }) => {
          // Native clients get no texts of white space.
          fc.pre(!isFailed && text === visibleText);
          const expected = client.keep(upstream.keep(readMeaning(events)));
          for (const [read, write] of [
            [upstream.stream, client.stream],
            [upstream.stream, client.whole],
            [upstream.whole, client.stream],
            [upstream.whole, client.whole],
          ] as const) {
            expect(readMeaning(write(read(events)))).toEqual(expected);
          }
        }),
        { timeMs: FUZZ_TIME_MS },
      );
    });
  },
);

describe('an answer of a native upstream to a native client', () => {
  it('keeps every block that says something, with signatures and hidden thoughts', () => {
    assertInTime(
      fc.property(eventSequences, ({ events, isFailed }) => {
        fc.pre(!isFailed);
        const { content, stopSequence } = collectAnswer(events);
        const said = content.filter((block) => block.type !== 'text' || block.text.trim() !== '');
        const [native] = KINDS;
        for (const read of [native?.stream, native?.whole]) {
          const answer = collectAnswer(read?.(events) ?? []);
          expect(answer.content).toEqual(said);
          expect(answer.stopSequence).toBe(stopSequence || undefined);
        }
      }),
      { timeMs: FUZZ_TIME_MS },
    );
  });
});
