import { afterAll, describe, expect, it } from 'vitest';
import { createSseDecoder } from '../../../src/protocol/sse/sse-decoder.ts';
import { readResponsesStream } from '../../contract/read-responses-stream.ts';
import { postQuestion } from '../../support/clients/ask-gateway.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import {
  answerOf,
  chunkOf,
  LAST_CHUNK,
  STREAM_HEAD,
  USAGE,
} from '../../support/upstreams/upstream-answers.ts';
import { priceOf, useUpstreamScene } from '../../support/upstreams/use-upstream-scene.ts';

afterAll(stopRedisServers);

const scene = useUpstreamScene({ kinds: ['responses'] });

type Fields = Readonly<Record<string, unknown>>;

const messageOf = (text: string) => ({
  ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'incomplete' },
  content: text === '' ? [] : [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});

const responseOf = (text: string, hasItem: boolean) => ({
  ...{ id: 'resp_1', object: 'response', status: 'incomplete', error: null },
  incomplete_details: { reason: 'content_filter' },
  output: hasItem ? [messageOf(text)] : [],
  usage: {
    ...{ input_tokens: USAGE.input, output_tokens: USAGE.output },
    total_tokens: USAGE.input + USAGE.output,
  },
});

function streamOf(text: string, hasItem: boolean): string {
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const begun = { ...responseOf('', false), status: 'in_progress', usage: null };
  const events: Fields[] = [
    { type: 'response.created', response: { ...begun, incomplete_details: null } },
    { type: 'response.in_progress', response: { ...begun, incomplete_details: null } },
    {
      ...{ type: 'response.output_item.added', output_index: 0 },
      item: { ...messageOf(''), status: 'in_progress' },
    },
    {
      ...{ type: 'response.content_part.added', ...place },
      part: { type: 'output_text', text: '', annotations: [] },
    },
    { type: 'response.output_text.delta', ...place, delta: text, logprobs: [] },
    { type: 'response.output_text.done', ...place, text, logprobs: [] },
    {
      ...{ type: 'response.content_part.done', ...place },
      part: { type: 'output_text', text, annotations: [] },
    },
    { type: 'response.output_item.done', output_index: 0, item: messageOf(text) },
    { type: 'response.incomplete', response: responseOf(text, hasItem) },
  ];
  const isSent = (event: Fields) =>
    'response' in event || (hasItem && (text !== '' || 'item' in event));
  const sent = events.filter(isSent);
  return sent
    .map(
      (event, i) =>
        `event: ${event['type']}\ndata: ${JSON.stringify({ sequence_number: i, ...event })}\n\n`,
    )
    .join('');
}

/** What a client is sent at the end. */
const ENDS = {
  native: (last: Fields) => last['stop_reason'],
  chat: (last: Fields) => (last['choices'] as readonly Fields[])[0]?.['finish_reason'],
} as const;

const CASES = {
  'in the middle of a text': { text: 'I will', hasItem: true },
  'before the first word of a text': { text: '', hasItem: true },
  'before it began': { text: '', hasItem: false },
} as const;

describe.each(Object.entries(CASES))('an answer that its vendor filters %s', (_, filtered) => {
  const { text, hasItem } = filtered;

  const take = (isStream: boolean) =>
    scene.take('responses', {
      script: () =>
        isStream
          ? [STREAM_HEAD, chunkOf(streamOf(text, hasItem)), LAST_CHUNK]
          : [answerOf(200, JSON.stringify(responseOf(text, hasItem)))],
    });

  it.each([false, true])(
    'is complete for a Responses client, which would ask again, and is paid once; streamed: %s',
    async (isStream) => {
      const { gateway, key, model, spent } = await take(isStream);
      const question = { url: gateway.url, key, model, format: 'responses', isStream } as const;
      const body = await (await postQuestion(question)).text();
      let response = body === '' || isStream ? {} : (JSON.parse(body) as Fields);
      if (isStream) {
        const events = createSseDecoder().push(Buffer.from(body));
        expect(readResponsesStream(events).ending).toBe('finished');
        response = JSON.parse(events.at(-1)?.data ?? '').response;
      }
      expect(response).toMatchObject({ status: 'completed', incomplete_details: null, model });
      const parts = (response['output'] as { readonly content: readonly Fields[] }[]).flatMap(
        ({ content }) => content,
      );
      const refusal = [{ type: 'refusal', refusal: 'The model declined to answer.' }];
      expect(parts).toMatchObject(text === '' ? refusal : [{ type: 'output_text', text }]);
      expect(response['usage']).toMatchObject({ output_tokens: USAGE.output });
      expect(await spent()).toBeCloseTo(priceOf(USAGE), 6);
    },
  );

  it.each(['native', 'chat'] as const)('is sent as filtered to a %s client', async (format) => {
    for (const isStream of [false, true]) {
      const { gateway, key, model, spent } = await take(isStream);
      const question = { url: gateway.url, key, model, format, isStream } as const;
      const body = await (await postQuestion(question)).text();
      const reason = format === 'native' ? 'refusal' : 'content_filter';
      if (isStream) expect(body).toContain(`_reason":"${reason}"`);
      else expect(ENDS[format](JSON.parse(body) as Fields)).toBe(reason);
      expect(await spent()).toBeCloseTo(priceOf(USAGE), 6);
    }
  });
});
