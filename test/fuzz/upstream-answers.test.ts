import { isUtf8 } from 'node:buffer';
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tallyDeltas } from '../../src/protocol/answers/count-content-bytes.ts';
import { decodeUpstreamError } from '../../src/protocol/answers/decode-upstream-error.ts';
import { decodeChatAnswer } from '../../src/protocol/chat/answers/decode-answer.ts';
import { createStreamDecoder as createChatDecoder } from '../../src/protocol/chat/answers/decode-stream.ts';
import { createChatRelay } from '../../src/protocol/chat/answers/relay-stream.ts';
import type { InferenceEvent } from '../../src/protocol/inference.ts';
import { decodeNativeAnswer } from '../../src/protocol/native/answers/decode-answer.ts';
import { createStreamDecoder as createNativeDecoder } from '../../src/protocol/native/answers/decode-stream.ts';
import { createNativeRelay } from '../../src/protocol/native/answers/relay-stream.ts';
import { REFUSALS, Refusal } from '../../src/protocol/refusals.ts';
import { decodeResponsesAnswer } from '../../src/protocol/responses/answers/decode-answer.ts';
import { createStreamDecoder as createResponsesDecoder } from '../../src/protocol/responses/answers/decode-stream.ts';
import { createResponsesRelay } from '../../src/protocol/responses/answers/relay-stream.ts';
import { createSseDecoder, isBlankEvent } from '../../src/protocol/sse/sse-decoder.ts';
import type { StreamDecoder } from '../../src/protocol/sse/stream-decoder.ts';
import type { StreamRelay } from '../../src/protocol/sse/stream-relay.ts';
import { collectAnswer, joinBytes } from '../contract/read-meaning.ts';
import { AS_IT_IS } from '../contract/relay-support.ts';
import { assertInTime } from '../support/time/assert-in-time.ts';
import { putSomewhere } from './put-somewhere.ts';

const FUZZ_TIME_MS = 3_000;
const RUNS = { numRuns: 1_000, timeMs: FUZZ_TIME_MS };
const CONTEXT = { createdSeconds: 1, wantsStreamUsage: true };
const MODEL = 'llm-pinned';
const WORD_OF_OURS = new TextEncoder().encode('data: ours\n\n');

const FIXTURES = new URL('../fixtures/', import.meta.url);

function readFiles(folder: string, extension: string): string[] {
  const url = new URL(folder, FIXTURES);
  const files = readdirSync(url).filter((file) => file.endsWith(extension));
  return files.map((file) => readFileSync(new URL(file, url), 'utf8'));
}

interface Kind {
  readonly name: string;
  readonly streams: readonly string[];
  readonly answers: readonly string[];
  readonly createDecoder: () => StreamDecoder;
  readonly createRelay: () => StreamRelay;
  readonly decodeAnswer: (body: string) => readonly InferenceEvent[];
}

const KINDS: readonly Kind[] = [
  {
    name: 'native',
    streams: readFiles('native/streams/', '.sse'),
    answers: readFiles('native/answers/', '.json'),
    createDecoder: createNativeDecoder,
    createRelay: () => createNativeRelay(MODEL, AS_IT_IS),
    decodeAnswer: decodeNativeAnswer,
  },
  {
    name: 'chat',
    streams: [...readFiles('chat/streams/', '.sse'), ...readFiles('upstreams/chat/', '.sse')],
    answers: readFiles('chat/answers/', '.json'),
    createDecoder: createChatDecoder,
    createRelay: () => createChatRelay(MODEL, CONTEXT, AS_IT_IS),
    decodeAnswer: decodeChatAnswer,
  },
  {
    name: 'responses',
    streams: readFiles('responses/streams/', '.sse'),
    answers: readFiles('responses/answers/', '.json'),
    createDecoder: () => createResponsesDecoder(undefined),
    createRelay: () => createResponsesRelay({ model: MODEL, context: CONTEXT, seal: undefined }),
    decodeAnswer: (body) => decodeResponsesAnswer(body, undefined),
  },
];

/** Words of all formats, so that random values get past the first checks. */
const words = fc.constantFrom(
  null,
  '',
  0,
  -1,
  1e308,
  true,
  [],
  {},
  [null],
  '{"a":',
  'text',
  'tool_use',
  'message_start',
  'response.completed',
  'function_call',
  { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'a' },
  '__proto__',
  'toString',
  { type: 'tool_use', id: 'a', name: 'n', input: { a: 1 } },
  { index: 0, delta: { content: 'x' } },
  { name: 'f', arguments: '{}' },
);
const values = fc.oneof(words, fc.jsonValue({ maxDepth: 2 }));

const changes = fc.array(
  fc.record({
    place: fc.nat(1_000),
    steps: fc.array(fc.nat(20), { minLength: 1, maxLength: 6 }),
    value: fc.option(values, { nil: undefined }),
  }),
  { minLength: 1, maxLength: 3 },
);

function mutateText(text: string, place: number, steps: readonly number[], value: unknown): string {
  try {
    const payload: unknown = JSON.parse(text);
    putSomewhere(payload, steps, value);
    return JSON.stringify(payload);
  } catch {
    return text.slice(0, place % (text.length + 1));
  }
}

/** Events of a stream that are changed, removed, doubled or moved. */
const mutatedStreams = (streams: readonly string[]) =>
  fc
    .tuple(fc.constantFrom(...streams), changes, fc.array(fc.nat(100), { maxLength: 2 }))
    .map(([stream, edits, moves]) => {
      const events = createSseDecoder().push(new TextEncoder().encode(stream));
      const datas = events.map(({ data }) => data);
      for (const { place, steps, value } of edits) {
        const at = place % datas.length;
        datas[at] = mutateText(datas[at] ?? '', place, steps, value);
      }
      for (const move of moves) {
        const [moved] = datas.splice(move % datas.length, 1);
        if (moved !== undefined && move % 2 === 0) datas.splice(move % 7, 0, moved, moved);
      }
      return new TextEncoder().encode(datas.map((data) => `data: ${data}\n\n`).join(''));
    });

function outcomeOf(work: () => void): 'read' | 'refused' {
  try {
    work();
    return 'read';
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect(error.message.length).toBeLessThanOrEqual(2_100);
    return 'refused';
  }
}

describe.each(KINDS)('whatever a $name upstream says', (kind) => {
  it('is read or refused as a stream, and relayed as it is read', () => {
    const outcomes = new Set<string>();
    assertInTime(
      fc.property(mutatedStreams(kind.streams), (bytes) => {
        const events: InferenceEvent[] = [];
        const outcome = outcomeOf(() => {
          const decoder = kind.createDecoder();
          for (const event of createSseDecoder().push(bytes)) {
            if (isBlankEvent(event)) continue;
            events.push(...decoder.decode(event));
            if (events.at(-1)?.type === 'finish') return;
          }
          events.push(...decoder.end());
        });
        outcomes.add(outcome);
        const relay = kind.createRelay();
        const parts = [relay.push(bytes), relay.end()] as const;
        const tally = tallyDeltas(events);
        expect(parts.flatMap((part) => part.events)).toEqual(tally.events);
        // Invalid UTF-8 is longer where it is read than where it is passed on.
        if (isUtf8(bytes)) {
          const relayedBytes = parts[0].contentBytes + parts[1].contentBytes;
          // Chat clients also get what is not read, and Responses clients what was not yet read.
          const isBehind = kind.name === 'responses' && outcome === 'refused';
          const isMore = kind.name === 'chat' || isBehind;
          if (isMore) expect(relayedBytes).toBeGreaterThanOrEqual(tally.contentBytes);
          else expect(relayedBytes).toBe(tally.contentBytes);
        }
        expect(parts.some(({ refusal }) => refusal !== undefined)).toBe(outcome === 'refused');
        // The blocks stay in order, whatever the upstream did.
        outcomeOf(() => void collectAnswer(events));
      }),
      RUNS,
    );
    expect([...outcomes].sort()).toEqual(['read', 'refused']);
  });

  it('is read or refused as bytes, and relayed in whole events', () => {
    const bytes = fc
      .tuple(fc.constantFrom(...kind.streams), fc.array(fc.tuple(fc.nat(), fc.nat(255))))
      .map(([stream, edits]) => {
        const changed = new TextEncoder().encode(stream);
        for (const [place, byte] of edits) changed[place % changed.length] = byte;
        return changed;
      });
    assertInTime(
      fc.property(bytes, (stream) => {
        const relay = kind.createRelay();
        const parts = [relay.push(stream), relay.end()];
        const isRefused = parts.some(({ refusal }) => refusal !== undefined);
        const isFinished = parts.flatMap(({ events }) => events).at(-1)?.type === 'finish';
        expect(isFinished).toBe(!isRefused);
        const relayed = joinBytes([...parts.flatMap(({ bytes: sent }) => sent), WORD_OF_OURS]);
        expect(createSseDecoder().push(relayed).at(-1)?.data).toBe('ours');
      }),
      RUNS,
    );
  });

  it('is read or refused as a whole', () => {
    const outcomes = new Set<string>();
    const bodies = fc.oneof(
      fc
        .tuple(fc.constantFrom(...kind.answers), changes)
        .map(([answer, edits]) =>
          edits.reduce(
            (text, { place, steps, value }) => mutateText(text, place, steps, value),
            answer,
          ),
        ),
      values.map((value) => JSON.stringify(value)),
      fc.string(),
    );
    assertInTime(
      fc.property(bodies, (body) => {
        outcomes.add(outcomeOf(() => void collectAnswer(kind.decodeAnswer(body))));
      }),
      RUNS,
    );
    expect([...outcomes].sort()).toEqual(['read', 'refused']);
  });
});

describe('whatever an upstream says of an error', () => {
  it('is a refusal that is never about our key, and never long', () => {
    const bodies = fc.oneof(
      fc.string(),
      values.map((value) => JSON.stringify(value)),
      values.map((value) => JSON.stringify({ error: value })),
      fc
        .record({ message: values, type: values, code: values, param: values })
        .map((error) => JSON.stringify({ error, detail: [error] })),
    );
    assertInTime(
      fc.property(
        fc.nat(700),
        bodies,
        fc.option(fc.string(), { nil: undefined }),
        (status, body, retryAfter) => {
          const refusal = decodeUpstreamError({ status, body, retryAfter });
          expect(Object.keys(REFUSALS)).toContain(refusal.refusal);
          expect([400, 413, 502, 504, 529]).toContain(refusal.status);
          expect(refusal.message).not.toBe('');
          expect(refusal.message.length).toBeLessThanOrEqual(2_100);
        },
      ),
      RUNS,
    );
  });
});
