import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAnswerCollector } from '../../src/protocol/answers/answer-collector.ts';
import { chatFormat } from '../../src/protocol/chat/chat-format.ts';
import { createSseDecoder } from '../../src/protocol/sse/sse-decoder.ts';
import { eventSequences } from '../contract/event-sequences.ts';
import { readChatStream } from '../contract/read-chat-stream.ts';
import { assertInTime } from '../support/time/assert-in-time.ts';
import { describeBodies, RUNS, TEST_TIME_MS } from './describe-bodies.ts';

describeBodies({
  format: 'chat',
  words: [
    'user',
    'assistant',
    'tool',
    'function',
    'text',
    'image_url',
    'auto',
    'allowed_tools',
    'json_schema',
    'data:image/png;base64,',
    '{"a":1}',
    '{',
    '',
  ],
  decode: (body) => chatFormat.decodeRequest(body, () => undefined),
});

describe('any answer', () => {
  it(
    'reads the same as a stream and as a whole',
    () => {
      const context = { createdSeconds: 1_700_000_000, wantsStreamUsage: true };
      assertInTime(
        fc.property(eventSequences, ({ events, text, tools, isFailed }) => {
          fc.pre(!isFailed);
          const encoder = chatFormat.createStreamEncoder(context);
          const stream = events.map((event) => encoder.encode(event)).join('');
          const read = readChatStream(createSseDecoder().push(new TextEncoder().encode(stream)));

          const collector = createAnswerCollector();
          for (const event of events) collector.add(event);
          const whole = JSON.parse(chatFormat.encodeAnswer(collector.finish(), context));
          const [{ message, finish_reason: finishReason }] = whole.choices;

          expect(read).toEqual({
            text,
            tools,
            reasoning: message.reasoning_content ?? '',
            ending: 'finished',
            finishReason,
            usage: whole.usage,
          });
          expect(message.content ?? '').toBe(text);
          expect(
            (message.tool_calls ?? []).map(
              (call: { id: string; function: { arguments: string } }) => [
                call.id,
                JSON.parse(call.function.arguments),
              ],
            ),
          ).toEqual(tools.map(({ id, input }) => [id, input]));
        }),
        RUNS,
      );
    },
    TEST_TIME_MS,
  );
});
