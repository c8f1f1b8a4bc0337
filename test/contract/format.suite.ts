import { existsSync, readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DecodedRequest, Format } from '../../src/protocol/format.ts';
import type {
  AnswerContext,
  InferenceAnswer,
  InferenceEvent,
} from '../../src/protocol/inference.ts';
import { REFUSALS, Refusal, type RefusalName } from '../../src/protocol/refusals.ts';
import { createSseDecoder, type SseEvent } from '../../src/protocol/sse/sse-decoder.ts';
import { assertInTime } from '../support/time/assert-in-time.ts';
import { type EventSequence, eventSequences } from './event-sequences.ts';

/** What a client understands of a stream. */
export interface StreamReading {
  readonly text: string;
  readonly tools: readonly { id: string; name: string; input: unknown }[];
  readonly ending: 'finished' | 'failed';
}

interface FormatContract {
  /** The folder under test/fixtures. */
  readonly fixtures: string;
  /**
   * Reads as strictly as the strictest client: throws at anything out of order, missing or left
   * over.
   */
  readonly readStream: (events: readonly SseEvent[]) => StreamReading;
}

/** `<format>/requests/*.json`. Undefined fields of `decoded.request` are omitted. */
interface RequestFixture {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly decoded: unknown;
}

/**
 * `scenarios/*.json`, shared by all formats. The expected output is in `<format>/streams/*.sse`
 * and, if there is an answer, in `<format>/answers/*.json`.
 */
interface Scenario {
  readonly context: AnswerContext;
  readonly events: readonly InferenceEvent[];
  /** Ends the stream instead of a finish event. */
  readonly refusal?: { readonly name: RefusalName; readonly message: string };
  readonly answer?: InferenceAnswer;
}

const FIXTURES = new URL('../fixtures/', import.meta.url);
const REQUEST_ID = 'req_0123456789';
const FUZZ_TIME_MS = 2_000;

function namesIn(folder: string, extension: string): string[] {
  const files = readdirSync(new URL(`${folder}/`, FIXTURES));
  return files
    .filter((file) => file.endsWith(extension))
    .map((file) => file.slice(0, -extension.length));
}

const readText = (path: string) => readFileSync(new URL(path, FIXTURES), 'utf8');
const readJson = (path: string): unknown => JSON.parse(readText(path));

/** JSON has no maps. */
function writeOut({ response, ...decoded }: DecodedRequest) {
  if (response === undefined) return decoded;
  return { ...decoded, response: { ...response, toolNames: [...response.toolNames] } };
}

function encodeStream(format: Format, { context, events, refusal }: Scenario): string {
  const encoder = format.createStreamEncoder(context);
  const body = events.map((event) => encoder.encode(event)).join('');
  if (refusal === undefined) return body;
  return body + encoder.encodeError(new Refusal(refusal.name, refusal.message), REQUEST_ID);
}

function decodeStream(stream: string): SseEvent[] {
  const decoder = createSseDecoder();
  return [...decoder.push(new TextEncoder().encode(stream)), ...decoder.end()];
}

const chatBody = (refusal: Refusal) => ({
  error: {
    message: refusal.chatMessage,
    type: REFUSALS[refusal.refusal].chatType,
    param: refusal.param,
    code: REFUSALS[refusal.refusal].chatCode,
  },
});

/** The bodies that each format promises. wire.md calls them the pure forms. */
const REFUSAL_BODIES: Record<Format['name'], (refusal: Refusal) => unknown> = {
  native: (refusal) => ({
    type: 'error',
    error: { type: REFUSALS[refusal.refusal].nativeType, message: refusal.message },
    request_id: REQUEST_ID,
  }),
  chat: chatBody,
  responses: chatBody,
};

/** The rules that every format must keep, whatever it looks like. */
export function describeFormat(format: Format, contract: FormatContract): void {
  const { fixtures, readStream } = contract;

  /** Native clients could not send the other texts back. */
  const textIn = ({ text, visibleText }: EventSequence) =>
    format.name === 'native' ? visibleText : text;

  const check = (scenario: Scenario, sequence: EventSequence) => {
    const { tools, isFailed } = sequence;
    const text = textIn(sequence);
    const events = decodeStream(encodeStream(format, scenario));
    expect(readStream(events)).toEqual({ text, tools, ending: isFailed ? 'failed' : 'finished' });
  };

  describe(`the ${format.name} format`, () => {
    for (const name of namesIn(`${fixtures}/requests`, '.json')) {
      it(`decodes the request ${name}`, () => {
        const fixture = readJson(`${fixtures}/requests/${name}.json`) as RequestFixture;
        const decoded = format.decodeRequest(fixture.body, (header) => fixture.headers[header]);
        expect(writeOut(decoded)).toEqual(fixture.decoded);
      });
    }

    for (const name of namesIn('scenarios', '.json')) {
      const scenario = readJson(`scenarios/${name}.json`) as Scenario;

      it(`streams ${name}`, () => {
        const stream = encodeStream(format, scenario);
        expect(stream).toBe(readText(`${fixtures}/streams/${name}.sse`));
        readStream(decodeStream(stream));
      });

      if (scenario.answer === undefined) continue;
      const { answer, context } = scenario;
      it(`answers ${name}`, () => {
        const path = `${fixtures}/answers/${name}.json`;
        expect(existsSync(new URL(path, FIXTURES)), path).toBe(true);
        expect(JSON.parse(format.encodeAnswer(answer, context))).toEqual(readJson(path));
      });
    }

    it('makes a legal stream of every legal order of events, with and without usage', () => {
      assertInTime(
        fc.property(eventSequences, fc.boolean(), (sequence, wantsStreamUsage) => {
          const { events, isFailed } = sequence;
          const context = { createdSeconds: 1_700_000_000, wantsStreamUsage };
          const refusal = { name: 'upstream_broken', message: 'It broke.' } as const;
          check({ context, events, ...(isFailed && { refusal }) }, sequence);
        }),
        { timeMs: FUZZ_TIME_MS },
      );
    });

    it('keeps a silent stream alive without a word to its reader', () => {
      assertInTime(
        fc.property(eventSequences, (sequence) => {
          const { events, tools, isFailed } = sequence;
          const text = textIn(sequence);
          if (isFailed) return;
          const encoder = format.createStreamEncoder({
            createdSeconds: 1,
            wantsStreamUsage: false,
          });
          // The first event opens the stream.
          const parts = events.map((event, i) => {
            const silence = i === 0 ? '' : encoder.encodeSilence();
            return silence + encoder.encode(event);
          });
          const stream = parts.join('');
          expect(readStream(decodeStream(stream))).toEqual({ text, tools, ending: 'finished' });
        }),
        { timeMs: FUZZ_TIME_MS },
      );
    });

    for (const name of Object.keys(REFUSALS) as RefusalName[]) {
      const refusal = new Refusal(name, 'Said to native clients.', {
        param: 'messages.0.content',
        chatMessage: 'Said to chat clients.',
      });

      it(`writes the refusal ${name}`, () => {
        const body: unknown = JSON.parse(format.encodeRefusal(refusal, REQUEST_ID));
        expect(body).toEqual(REFUSAL_BODIES[format.name](refusal));
      });

      it(`ends a stream with the refusal ${name}`, () => {
        const encoder = format.createStreamEncoder({ createdSeconds: 1, wantsStreamUsage: false });
        const told = decodeStream(encoder.encodeError(refusal, REQUEST_ID));
        const [event, ...rest] = told;
        expect(JSON.parse(event?.data ?? '')).toMatchObject({
          error: { message: expect.stringMatching(/^Said to (native|chat) clients\.$/) },
        });
        // A response also has an end of its own.
        expect(rest.map((each) => each.event)).toEqual(
          format.name === 'responses' ? ['response.failed'] : [],
        );
      });
    }
  });
}
