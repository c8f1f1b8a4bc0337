import { createOpenAI } from '@ai-sdk/openai';
import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator';
import type { Response as ResponseObject } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import { createStreamDecoder } from '../../src/protocol/responses/answers/decode-stream.ts';
import { relayResponsesAnswer } from '../../src/protocol/responses/answers/relay-answer.ts';
import { createResponsesRelay } from '../../src/protocol/responses/answers/relay-stream.ts';
import { createSseDecoder } from '../../src/protocol/sse/sse-decoder.ts';
import { expectTally, readAll, relayAll } from '../contract/relay-support.ts';

type Fields = Readonly<Record<string, unknown>>;

const TERMS = {
  model: 'llm-pinned',
  context: { createdSeconds: 1_700_000_000, wantsStreamUsage: true },
  seal: undefined,
};
const USAGE = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
const ITEM = { item_id: 'msg_v', output_index: 0 };
const PART = { ...ITEM, content_index: 0 };
const EMPTY = {
  type: 'message',
  id: 'msg_v',
  status: 'in_progress',
  role: 'assistant',
  content: [],
};
const TEXT = { type: 'output_text', text: 'Hi you', annotations: [] };
const MESSAGE = { ...EMPTY, status: 'completed', content: [TEXT] };
const CALL = {
  ...{ type: 'function_call', id: 'fc_v', call_id: 'c', name: 'look', status: 'completed' },
  arguments: '{"a":1}',
};
const THOUGHT = {
  ...{ type: 'reasoning', id: 'rs_v', summary: [] },
  content: [{ type: 'reasoning_text', text: 'Hi you' }],
};

const added = (item: Fields) => ({ type: 'response.output_item.added', output_index: 0, item });
const done = (item: Fields) => ({ type: 'response.output_item.done', output_index: 0, item });
const deltas = (kind: string, at: Fields = PART) =>
  ['Hi', ' you'].map((delta) => ({ type: `response.${kind}.delta`, ...at, delta }));
const partAdded = { type: 'response.content_part.added', ...PART, part: { ...TEXT, text: '' } };
const textDone = { type: 'response.output_text.done', ...PART, text: 'Hi you' };
const thoughtPart = (verb: string, text: string) => ({
  ...{ type: `response.reasoning_part.${verb}`, ...PART, item_id: 'rs_v' },
  part: { type: 'reasoning_text', text },
});
const EMPTY_THOUGHT = { ...THOUGHT, content: undefined };
const thoughts = deltas('reasoning_text', { ...PART, item_id: 'rs_v' });

function writeStream(pieces: readonly Fields[], output: readonly Fields[]): Buffer {
  const payloads: readonly Fields[] = [
    { type: 'response.created', response: { id: 'resp_v', model: 'v', output: [] } },
    ...pieces,
    { type: 'response.completed', response: { status: 'completed', output, usage: USAGE } },
  ];
  return Buffer.from(
    payloads
      .map((payload, i): Fields => ({ ...payload, sequence_number: i }))
      .map((payload) => `event: ${payload['type']}\ndata: ${JSON.stringify(payload)}\n\n`)
      .join(''),
  );
}

/** What the vendor's library makes of all events but the last, which repeats them. */
function accumulate(events: readonly Fields[]): Fields {
  let snapshot: ResponseObject | undefined;
  for (const event of events.slice(0, -1)) {
    snapshot = accumulateResponse(event as never, snapshot);
  }
  return snapshot as unknown as Fields;
}

function createModel(body: Uint8Array, type: string) {
  const answer = () => new Response(Buffer.from(body), { headers: { 'content-type': type } });
  return createOpenAI({ apiKey: 'key', fetch: async () => answer() }).responses('m');
}

const PROMPT = {
  prompt: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'x' }] }],
};

/** What the AI SDK reads of a stream. */
async function readParts(body: Uint8Array) {
  const { stream } = await createModel(body, 'text/event-stream').doStream(PROMPT);
  const parts = [];
  for await (const part of stream) parts.push(part);
  expect(parts.filter(({ type }) => type === 'error')).toEqual([]);
  const text = parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('');
  return { text, calls: parts.filter(({ type }) => type === 'tool-call') };
}

const whole = { type: 'message', content: [{ type: 'output_text', text: 'Hi you' }] };

describe.each<[string, readonly Fields[], readonly Fields[]]>([
  [
    'without the beginning of a part',
    [added(EMPTY), ...deltas('output_text'), done(MESSAGE)],
    [whole],
  ],
  [
    'without the beginning of an item',
    [...deltas('output_text'), textDone, done(MESSAGE)],
    [whole],
  ],
  ['with nothing but texts', deltas('output_text'), [whole]],
  ['with nothing but the part and its text', [partAdded, ...deltas('output_text')], [whole]],
  ['with an item only when it is done', [done(MESSAGE)], [whole]],
  ['with a text only when it is done', [added(EMPTY), partAdded, textDone, done(MESSAGE)], [whole]],
  ['with an item only when it begins', [added(EMPTY)], [whole]],
  ['without the end of an item', [added(EMPTY), partAdded, ...deltas('output_text')], [whole]],
  [
    'without any name or list',
    [done({ type: 'message', content: [{ ...TEXT, annotations: null }] })],
    [whole],
  ],
  ['with a call only when it is done', [done(CALL)], [CALL]],
  [
    'with a call that has no arguments and no state',
    [
      added({ ...CALL, status: undefined, arguments: '' }),
      done({ ...CALL, status: undefined, arguments: '' }),
    ],
    [{ ...CALL, arguments: '{}' }],
  ],
  [
    'with thoughts in events of their own',
    [
      ...[added(EMPTY_THOUGHT), thoughtPart('added', ''), ...thoughts],
      ...[thoughtPart('done', 'Hi you'), done(THOUGHT)],
    ],
    [THOUGHT],
  ],
  [
    'with thoughts that have no beginning',
    [added({ ...EMPTY_THOUGHT, summary: undefined }), ...thoughts, done(THOUGHT)],
    [THOUGHT],
  ],
])('a stream %s', (_, pieces, output) => {
  const [item] = output;
  const listed = item === whole ? [MESSAGE] : output;
  const bytes = writeStream(pieces, listed);
  const relayed = relayAll(createResponsesRelay(TERMS), [bytes]);
  const events = createSseDecoder()
    .push(relayed.bytes)
    .map(({ data }): Fields => JSON.parse(data));

  it('is whole for a client that puts it together from its events', () => {
    expect(relayed.refusal).toBeUndefined();
    expect(accumulate(events)).toMatchObject({ output });
    expect(events.at(-1)).toMatchObject({ response: { output } });
    expect(events.filter(({ type }) => type === 'response.output_item.done')).toMatchObject([
      { item },
    ]);
    expect(events.map(({ sequence_number: number }) => number)).toEqual([...events.keys()]);
  });

  it('says as much in its deltas', async () => {
    const { text, calls } = await readParts(relayed.bytes);
    expect(text).toBe(item?.['type'] === 'message' ? 'Hi you' : '');
    if (item?.['type'] === 'function_call') {
      expect(calls).toMatchObject([{ toolCallId: 'c', input: item['arguments'] }]);
      const said = events.filter(({ type }) => String(type).endsWith('arguments.delta'));
      expect(said.map(({ delta }) => delta).join('')).toBe(item['arguments']);
    }
  });

  it('is counted as it is read', () => {
    expectTally(relayed, readAll(bytes, createStreamDecoder(undefined)));
  });
});

it('a text is said once if its pieces do not say in which part they are', async () => {
  const bytes = writeStream(
    [added(EMPTY), ...deltas('output_text', ITEM), done(MESSAGE)],
    [MESSAGE],
  );
  const relayed = relayAll(createResponsesRelay(TERMS), [bytes]);
  expect(await readParts(relayed.bytes)).toMatchObject({ text: 'Hi you' });
});

it('a whole answer without names and lists can be read by a client with a strict schema', async () => {
  const output = [
    { type: 'reasoning' },
    { type: 'message', content: [{ type: 'output_text', text: 'Hi you', annotations: null }] },
    { type: 'function_call', call_id: 'c', name: 'look', arguments: '' },
  ];
  const body = Buffer.from(JSON.stringify({ output, usage: USAGE }));
  const { closing } = relayResponsesAnswer(body, TERMS);
  const usage = {
    ...{ input: 1, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 },
    ...{ output: 1, thinking: 0, searches: 0 },
  };
  const relayed = closing?.(usage) ?? Buffer.alloc(0);
  const { content } = await createModel(relayed, 'application/json').doGenerate(PROMPT);
  expect(content.filter(({ type }) => type !== 'reasoning')).toMatchObject([
    { type: 'text', text: 'Hi you' },
    { type: 'tool-call', toolCallId: 'c', input: '{}' },
  ]);
});
