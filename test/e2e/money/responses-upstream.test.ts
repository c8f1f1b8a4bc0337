import { afterAll, describe, expect, it } from 'vitest';
import { createSseDecoder } from '../../../src/protocol/sse/sse-decoder.ts';
import { type ClientFormat, postQuestion } from '../../support/clients/ask-gateway.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { CLOSE } from '../../support/upstreams/start-scripted-upstream.ts';
import {
  chunkOf,
  ESTIMATED_INPUT,
  LAST_CHUNK,
  STREAM_HEAD,
  USAGE,
} from '../../support/upstreams/upstream-answers.ts';
import { priceOf, useUpstreamScene } from '../../support/upstreams/use-upstream-scene.ts';

afterAll(stopRedisServers);

const scene = useUpstreamScene({ kinds: ['responses'] });

type Fields = Readonly<Record<string, unknown>>;

const SAID = 'Hello!';
const REPORTED = {
  ...{ input_tokens: USAGE.input, output_tokens: USAGE.output },
  total_tokens: USAGE.input + USAGE.output,
};
/** At three bytes a token. */
const ESTIMATED = { input: ESTIMATED_INPUT, output: 2 };
const FREE = { input: 0, output: 0 };

const message = (text: string, id = 'msg_1') => ({
  ...{ type: 'message', id, role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text, annotations: [] }],
});
const created = { type: 'response.created', response: { id: 'resp_1', output: [] } };
const added = (index = 0) => ({
  type: 'response.output_item.added',
  output_index: index,
  item: { ...message('', `msg_${index}`), status: 'in_progress', content: [] },
});
const delta = (text: string, index = 0) => ({
  ...{ type: 'response.output_text.delta', item_id: `msg_${index}`, output_index: index },
  ...{ content_index: 0, delta: text },
});
const done = (text: string, index = 0) => ({
  ...{ type: 'response.output_item.done', output_index: index },
  item: message(text, `msg_${index}`),
});
const ended = (more: Fields = { usage: REPORTED }, type = 'response.completed') => ({
  type,
  response: { id: 'resp_1', output: [message(SAID)], ...more },
});
const failed = (more: Fields) => ({
  type: 'response.failed',
  response: { status: 'failed', error: { code: 'server_error', message: 'Broken' }, ...more },
});

interface Lie {
  /** One may have another name than its type. */
  readonly events: readonly Fields[];
  readonly text: string;
  readonly charged: { readonly input: number; readonly output: number };
  /** Whether the client is sent a failure. */
  readonly isFailure?: boolean;
}

const said = [created, added(), delta(SAID)];
/** The context window of a model whose settings name none. */
const WINDOW = 200_000;
const LIES: Readonly<Record<string, Lie>> = {
  'says a text of no item': {
    events: [created, delta(SAID), ended()],
    ...{ text: SAID, charged: USAGE },
  },
  'leaves out the beginning': {
    events: [added(), delta(SAID), done(SAID), ended()],
    ...{ text: SAID, charged: USAGE },
  },
  'begins again in the middle': {
    events: [...said, created, { type: 'response.in_progress', response: {} }, ended()],
    ...{ text: SAID, charged: USAGE },
  },
  'mixes two messages': {
    events: [created, added(0), added(1), delta('Hel', 0), delta('', 1), delta('lo!', 0), ended()],
    ...{ text: SAID, charged: USAGE },
  },
  'is done before it says anything': {
    events: [created, added(), done(''), delta(SAID), ended()],
    ...{ text: '', charged: FREE, isFailure: true },
  },
  'says at its end alone what it says': {
    events: [created, ended({ usage: REPORTED, output: [] })],
    ...{ text: '', charged: USAGE },
  },
  'says all that it says at its end alone': {
    events: [created, ended()],
    ...{ text: SAID, charged: USAGE },
  },
  'says another text at its end': {
    events: [...said, done(SAID), ended({ usage: REPORTED, output: [message('Bye, and more.')] })],
    ...{ text: SAID, charged: USAGE },
  },
  'completes twice, the second time with more': {
    events: [...said, ended(), ended({ usage: { input_tokens: 1e6, output_tokens: 1e6 } })],
    ...{ text: SAID, charged: USAGE },
  },
  'fails after it has completed': {
    events: [...said, ended(), failed({ usage: REPORTED })],
    ...{ text: SAID, charged: USAGE },
  },
  'fails in the middle, and reports its usage': {
    events: [...said, failed({ usage: REPORTED })],
    ...{ text: SAID, charged: USAGE, isFailure: true },
  },
  'fails before it says anything, and reports a usage': {
    events: [created, failed({ usage: REPORTED })],
    ...{ text: '', charged: FREE, isFailure: true },
  },
  'says failed and completed at once': {
    events: [
      ...said,
      ended({ status: 'failed', error: { code: 'server_error' }, usage: REPORTED }),
    ],
    ...{ text: SAID, charged: USAGE, isFailure: true },
  },
  'sends each beginning and each end twice': {
    events: [created, created, added(), added(), delta(SAID), done(SAID), done(SAID), ended()],
    ...{ text: SAID, charged: USAGE },
  },
  'never completes': { events: said, text: SAID, charged: ESTIMATED, isFailure: true },
  'reports its usage beside the response': {
    events: [...said, { ...ended({}), usage: REPORTED }],
    ...{ text: SAID, charged: ESTIMATED },
  },
  'reports a usage of words': {
    events: [...said, ended({ usage: { input_tokens: '12', output_tokens: [7] } })],
    ...{ text: SAID, charged: ESTIMATED },
  },
  'reports less than nothing': {
    events: [...said, ended({ usage: { input_tokens: -5, output_tokens: -7, total_tokens: -12 } })],
    ...{ text: SAID, charged: ESTIMATED },
  },
  'reports a usage of fractions': {
    events: [...said, ended({ usage: { input_tokens: 12.5, output_tokens: 0.5 } })],
    ...{ text: SAID, charged: ESTIMATED },
  },
  'reports a usage beyond all bounds': {
    events: [...said, ended({ usage: { input_tokens: 1e300, output_tokens: 1e300 } })],
    ...{ text: SAID, charged: { input: WINDOW, output: 100 } },
  },
  'counts more thoughts than it said': {
    events: [
      ...said,
      ended({ usage: { ...REPORTED, output_tokens_details: { reasoning_tokens: 1e9 } } }),
    ],
    ...{ text: SAID, charged: USAGE },
  },
  'wrote a cache that nobody asked for': {
    events: [
      ...said,
      ended({ usage: { ...REPORTED, input_tokens_details: { cache_write_tokens: USAGE.input } } }),
    ],
    // What is written to a cache costs a quarter more.
    ...{ text: SAID, charged: { input: USAGE.input * 1.25, output: USAGE.output } },
  },
  'says failed in the status of what is completed': {
    events: [...said, ended({ status: 'failed', usage: REPORTED })],
    ...{ text: SAID, charged: USAGE, isFailure: true },
  },
  'goes on after it has completed': {
    events: [...said, ended(), delta(' More.'), added(1), delta('Again.', 1), done('Again.', 1)],
    ...{ text: SAID, charged: USAGE },
  },
  'numbers its events as it likes': {
    events: [...said, done(SAID), ended()].map((event, i) => ({
      ...event,
      sequence_number: [7, 7, -1, 1e9, '4'][i],
    })),
    ...{ text: SAID, charged: USAGE },
  },
  'gives its events the names of others': {
    events: [...said, done(SAID), ended()].map((event) => ({ ...event, name: 'response.failed' })),
    ...{ text: SAID, charged: USAGE },
  },
  'has cached more than there was': {
    events: [
      ...said,
      ended({ usage: { ...REPORTED, input_tokens_details: { cached_tokens: 1e9 } } }),
    ],
    // What is read from a cache costs a tenth.
    ...{ text: SAID, charged: { input: USAGE.input / 10, output: USAGE.output } },
  },
};

const streamOf = (events: readonly Fields[], from = 0) =>
  events
    .map((event, i) => ({ sequence_number: i, ...event }) as Fields)
    .slice(from)
    .map(({ name, ...event }) => {
      const told = name ?? event['type'];
      return `event: ${told}\ndata: ${JSON.stringify(event)}\n\n`;
    })
    .join('');

const FORMATS: readonly ClientFormat[] = ['responses', 'native'];

describe('an upstream of the Responses format', () => {
  it.each(Object.entries(LIES))(
    'that %s is charged once, for what was delivered or reported',
    async (_, { events, text, charged, isFailure = false }) => {
      const place = await scene.take('responses', {
        script: () => [STREAM_HEAD, chunkOf(streamOf(events)), LAST_CHUNK],
      });
      for (const format of FORMATS) {
        const told = await place.ask(format, true);
        expect(told, format).toMatchObject({ text, isComplete: !isFailure });
        expect(told.error === undefined, format).toBe(!isFailure);
      }
      expect(await place.spent()).toBeCloseTo(FORMATS.length * priceOf(charged), 6);
    },
  );

  it('that thinks in silence keeps its client waiting, and no number is lost when it breaks', async () => {
    let goOn = () => {};
    const isHeard = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const place = await scene.take('responses', {
      async *script() {
        yield STREAM_HEAD;
        yield chunkOf(`${streamOf(said)}: still here\n\n`);
        await isHeard;
        yield chunkOf(
          streamOf([...said, delta(' And on.'), delta(' On.'), done(SAID)], said.length),
        );
        yield CLOSE;
      },
    });
    const { model, key, gateway } = place;
    const question = { url: gateway.url, key, model, format: 'responses', isStream: true } as const;
    const response = await postQuestion(question);
    let text = '';
    for await (const bytes of response.body ?? []) {
      text += Buffer.from(bytes).toString();
      // The first is what the upstream says of itself, the second comes of the silence.
      if (text.split('event: keepalive').length > 2) goOn();
    }
    const events = createSseDecoder()
      .push(Buffer.from(text))
      .map(({ data }): Fields => JSON.parse(data));
    expect(events.map((event) => [event['sequence_number'], event['type']])).toEqual(
      [
        ...['response.created', 'response.output_item.added', 'response.content_part.added'],
        'response.output_text.delta',
        ...['keepalive', 'keepalive', 'response.output_text.delta', 'response.output_text.delta'],
        ...['response.output_item.done', 'error', 'response.failed'],
      ].map((type, i) => [i, type]),
    );
    expect(events.at(-1)?.['response']).toMatchObject({ model, output: [message(SAID, 'msg_0')] });
    expect(await place.spent()).toBeCloseTo(priceOf({ input: ESTIMATED_INPUT, output: 6 }), 6);
  });

  it('counts a long text in the answer about tokens as well', async () => {
    const { gateway, key, model } = await scene.take('responses', { script: () => [] });
    const response = await fetch(`${gateway.url}/v1/responses/input_tokens`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, store: false, input: 'word '.repeat(6_000) }),
    });
    const { input_tokens } = (await response.json()) as { input_tokens: number };
    expect(input_tokens).toBeGreaterThanOrEqual(10_000);
  });

  it.each([
    ['never ends', () => 'x'.repeat(1024 * 1024)],
    ['has no end of items', () => streamOf(Array.from({ length: 600 }, (_, i) => added(i + 1)))],
  ])('whose answer %s is read up to a limit', async (_, more) => {
    const opening = streamOf(said);
    const place = await scene.take('responses', {
      *script() {
        yield STREAM_HEAD;
        yield chunkOf(`${opening}data: `.slice(0, more().startsWith('x') ? undefined : -6));
        for (let i = 0; i < 64; i++) yield chunkOf(more());
      },
    });
    for (const format of FORMATS) {
      const told = await place.ask(format, true);
      expect(told, format).toMatchObject({ text: SAID, isComplete: false });
      expect(told.error?.message).toMatch(/too large|too many/);
    }
    expect(await place.spent()).toBeCloseTo(FORMATS.length * priceOf(ESTIMATED), 6);
  });
});
