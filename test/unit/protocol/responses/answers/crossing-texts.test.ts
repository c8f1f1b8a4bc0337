import { describe, expect, it } from 'vitest';
import { decodeChatAnswer } from '../../../../../src/protocol/chat/answers/decode-answer.ts';
import { chatFormat } from '../../../../../src/protocol/chat/chat-format.ts';
import type { Format } from '../../../../../src/protocol/format.ts';
import type { InferenceEvent } from '../../../../../src/protocol/inference.ts';
import { nativeFormat } from '../../../../../src/protocol/native/native-format.ts';
import {
  createStreamDecoder,
  decodeResponse,
} from '../../../../../src/protocol/responses/answers/decode-stream.ts';
import { responsesFormat } from '../../../../../src/protocol/responses/responses-format.ts';
import { createSseDecoder } from '../../../../../src/protocol/sse/sse-decoder.ts';
import { collectAnswer } from '../../../../contract/read-meaning.ts';
import { readResponsesStream } from '../../../../contract/read-responses-stream.ts';

const CONTEXT = { createdSeconds: 1, wantsStreamUsage: true };
const KEPT = {
  ...CONTEXT,
  response: {
    ...{ echo: {}, toolNames: new Map(), wantsStore: true, previousId: undefined },
    ...{ requestId: 'req_1', completedSeconds: () => 1 },
  },
};
const SORRY = "I'm sorry, I can't help.";
const REFUSAL = { type: 'refusal', refusal: SORRY };
const CITED = {
  type: 'output_text',
  text: 'See x',
  annotations: [{ type: 'url_citation', start_index: 0, end_index: 3, url: 'https://x' }],
  logprobs: [{ token: 'See', logprob: -0.1, bytes: [83], top_logprobs: [] }],
};
const usage = { input_tokens: 5, output_tokens: 5, total_tokens: 10 };

const message = (...content: object[]) => ({
  ...{ type: 'message', id: 'msg_1', status: 'completed', role: 'assistant' },
  ...{ phase: 'final_answer', content },
});
const respond = (...output: object[]) => ({
  ...{ id: 'resp_1', object: 'response', status: 'completed', model: 'gpt', output, usage },
});

/** The events of an upstream that sends the same answer piece by piece. */
function readPieces(item: ReturnType<typeof message>): InferenceEvent[] {
  const decoder = createStreamDecoder(undefined);
  const at = { output_index: 0, item_id: 'msg_1' };
  const payloads: object[] = [
    { type: 'response.created', response: { id: 'resp_1', model: 'gpt' } },
    { type: 'response.output_item.added', ...at, item: { ...item, content: [] } },
    ...item.content.flatMap((part, i) => {
      const fields = part as Readonly<Record<string, unknown>>;
      const kind = fields['type'] === 'refusal' ? 'refusal' : 'output_text';
      const delta = String(fields['refusal'] ?? fields['text']);
      const place = { ...at, content_index: i };
      return [
        { type: `response.${kind}.delta`, ...place, delta: delta.slice(0, 3) },
        { type: `response.${kind}.delta`, ...place, delta: delta.slice(3) },
        { type: 'response.content_part.done', ...place, part },
      ];
    }),
    { type: 'response.output_item.done', ...at, item },
    { type: 'response.completed', response: respond(item) },
  ];
  return payloads.flatMap((payload) =>
    decoder.decode({ event: undefined, data: JSON.stringify(payload) }),
  );
}

const readWhole = (item: ReturnType<typeof message>) => [
  ...decodeResponse(respond(item), undefined),
];

const encodeWhole = (events: readonly InferenceEvent[], format: Format) =>
  JSON.parse(format.encodeAnswer(collectAnswer(events), CONTEXT));

function encodeStream(events: readonly InferenceEvent[], format: Format) {
  const encoder = format.createStreamEncoder(CONTEXT);
  const text = events.map((event) => encoder.encode(event)).join('');
  return createSseDecoder().push(new TextEncoder().encode(text));
}

describe.each([
  ['whole', readWhole],
  ['streamed', readPieces],
])('a text of a Responses upstream, %s', (_, read) => {
  it.each([
    ['a refusal', REFUSAL],
    ['a text with annotations and logprobs', CITED],
  ])('that is written anew for a Responses client says all it said: %s', (__, part) => {
    const events = read(message(part));
    const said = [{ type: 'message', phase: 'final_answer', content: [part] }];
    expect(encodeWhole(events, responsesFormat).output).toMatchObject(said);
    expect(readResponsesStream(encodeStream(events, responsesFormat)).output).toMatchObject(said);
  });

  it('is kept without its logprobs, which are many times as long', () => {
    const events = read(message(CITED));
    const encoder = responsesFormat.createStreamEncoder(KEPT);
    const kept = [
      responsesFormat.keepRules?.describeAnswer(collectAnswer(events), KEPT),
      ...events.map((event) => {
        if (event.type === 'finish') return encoder.readKept?.(event);
        encoder.encode(event);
        return undefined;
      }),
    ].filter((answer) => answer !== undefined);
    const said = { type: 'message', content: [{ ...CITED, logprobs: [] }] };
    expect(kept.map(({ output }) => JSON.parse(output))).toMatchObject([[said], [said]]);
  });

  it('is a refusal for chat clients if it was one', () => {
    const events = read(message(REFUSAL));
    expect(encodeWhole(events, chatFormat).choices).toMatchObject([
      { message: { content: null, refusal: SORRY }, finish_reason: 'stop' },
    ]);
    const chunks = encodeStream(events, chatFormat)
      .filter(({ data }) => data !== '[DONE]')
      .flatMap(({ data }) => JSON.parse(data).choices);
    const deltas = chunks.map(({ delta }) => delta);
    expect(deltas.map(({ refusal = '' }) => refusal).join('')).toBe(SORRY);
    expect(deltas.filter(({ content }) => content != null)).toEqual([]);
    expect(chunks.at(-1)).toMatchObject({ finish_reason: 'stop' });
  });

  it('is nothing but a text for native clients', () => {
    for (const [part, text] of [
      [REFUSAL, SORRY],
      [CITED, CITED.text],
    ] as const) {
      const events = read(message(part));
      expect(encodeWhole(events, nativeFormat).content).toEqual([{ type: 'text', text }]);
      const starts = encodeStream(events, nativeFormat).filter(
        ({ event }) => event === 'content_block_start',
      );
      expect(starts.map(({ data }) => JSON.parse(data).content_block)).toEqual([
        { type: 'text', text: '' },
      ]);
    }
  });
});

it('a refusal of a chat upstream is one for Responses clients, beside what else was said', () => {
  const told = { role: 'assistant', content: 'Well.', refusal: SORRY };
  const choices = [{ index: 0, message: told, finish_reason: 'stop' }];
  const events = decodeChatAnswer(JSON.stringify({ id: 'chatcmpl-1', model: 'gpt', choices }));
  const said = [{ content: [{ type: 'output_text', text: 'Well.' }] }, { content: [REFUSAL] }];
  expect(encodeWhole(events, responsesFormat).output).toMatchObject(said);
  expect(readResponsesStream(encodeStream(events, responsesFormat)).output).toMatchObject(said);
});
