import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAnswerCollector } from '../../src/protocol/answers/answer-collector.ts';
import { chatFormat } from '../../src/protocol/chat/chat-format.ts';
import { Refusal } from '../../src/protocol/refusals.ts';
import { createSseDecoder } from '../../src/protocol/sse/sse-decoder.ts';
import { eventSequences } from '../contract/event-sequences.ts';
import { readChatStream } from '../contract/read-chat-stream.ts';

const TIME_MS = 3_000;
const RUNS = { interruptAfterTimeLimit: TIME_MS, numRuns: 20_000 };

const FIXTURES = new URL('../fixtures/chat/requests/', import.meta.url);
const requests = readdirSync(FIXTURES).map((file) => {
  const fixture = JSON.parse(readFileSync(new URL(file, FIXTURES), 'utf8')) as { body: unknown };
  return fixture.body;
});

/** Words of the format, so that random values get past the first checks. */
const words = fc.constantFrom(
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
);
const values = fc.oneof(words, fc.jsonValue({ maxDepth: 3 }));

/** Puts `value` somewhere into `target`. `undefined` removes a member. */
function mutate(target: unknown, steps: readonly number[], value: unknown): void {
  const [step = 0, ...further] = steps;
  if (typeof target !== 'object' || target === null) return;
  const keys = Object.keys(target);
  const key = keys[step % Math.max(keys.length, 1)];
  if (key === undefined) return;
  const child: unknown = Reflect.get(target, key);
  if (further.length > 0 && typeof child === 'object' && child !== null) {
    mutate(child, further, value);
  } else if (value === undefined && !Array.isArray(target)) {
    Reflect.deleteProperty(target, key);
  } else {
    Reflect.set(target, key, value ?? null);
  }
}

const mutations = fc.record({
  steps: fc.array(fc.nat(20), { minLength: 1, maxLength: 6 }),
  value: fc.option(values, { nil: undefined }),
});
const mutatedRequests = fc
  .tuple(fc.constantFrom(...requests), fc.array(mutations, { minLength: 1, maxLength: 4 }))
  .map(([request, changes]) => {
    const body: unknown = structuredClone(request);
    for (const { steps, value } of changes) mutate(body, steps, value);
    return body;
  });

function decodeOrRefuse(body: unknown): 'decoded' | Refusal {
  try {
    chatFormat.decodeRequest(body, () => undefined);
    return 'decoded';
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

describe('any body', () => {
  it(
    'is decoded or refused, and never breaks anything',
    () => {
      fc.assert(
        fc.property(fc.jsonValue(), (body) => void decodeOrRefuse(body)),
        RUNS,
      );
    },
    TIME_MS * 4,
  );

  it(
    'that was right once is decoded or refused with a short word on what is wrong now',
    () => {
      const seen = { decoded: 0, refused: 0 };
      fc.assert(
        fc.property(mutatedRequests, (body) => {
          const outcome = decodeOrRefuse(body);
          seen[outcome === 'decoded' ? outcome : 'refused'] += 1;
          if (outcome === 'decoded') return;
          expect(outcome.status).toBe(400);
          expect(outcome.message.length).toBeLessThan(300);
        }),
        RUNS,
      );
      expect(Math.min(seen.decoded, seen.refused)).toBeGreaterThan(10);
    },
    TIME_MS * 4,
  );
});

describe('any answer', () => {
  it(
    'reads the same as a stream and as a whole',
    () => {
      const context = { createdSeconds: 1_700_000_000, wantsStreamUsage: true };
      fc.assert(
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
    TIME_MS * 4,
  );
});
