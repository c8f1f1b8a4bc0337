import { afterAll, describe, expect, it } from 'vitest';
import { postQuestion } from '../../support/clients/ask-gateway.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { CLOSE, RESET, type Step } from '../../support/upstreams/start-scripted-upstream.ts';
import {
  chunkOf,
  ESTIMATED_INPUT,
  goodAnswer,
  LAST_CHUNK,
  STREAM_HEAD,
  streamParts,
  USAGE,
} from '../../support/upstreams/upstream-answers.ts';
import { priceOf, useUpstreamScene } from '../../support/upstreams/use-upstream-scene.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterAll(stopRedisServers);

const scene = useUpstreamScene({ kinds: ['chat', 'responses'] });

const REQUEST_CHARS = 100_000;
const KINDS = ['chat', 'responses'] as const;
type Kind = (typeof KINDS)[number];

/** What an upstream may say before it says anything. */
const BEGINNINGS: Readonly<Record<Kind, string>> = {
  chat: streamParts('chat').begin,
  responses: ['response.created', 'response.queued', 'response.in_progress']
    .map((type, i) => {
      const instructions = 'long'.repeat(REQUEST_CHARS / 4);
      const response = { id: 'resp_1', status: 'in_progress', output: [], instructions };
      const payload = { type, sequence_number: i, response };
      return `event: ${type}\ndata: ${JSON.stringify(payload)}\n\n: alive\n\n`;
    })
    .join(''),
};

const DEATHS: Readonly<Record<string, (kind: Kind) => Iterable<Step>>> = {
  'resets its connection': () => [RESET],
  'closes its connection': () => [CLOSE],
  'ends its answer': () => [LAST_CHUNK],
  'tells of an error': (kind) => [chunkOf(streamParts(kind).error(500, 'Broken')), LAST_CHUNK],
  'is overloaded': (kind) => [chunkOf(streamParts(kind).error(529, 'Busy')), LAST_CHUNK],
};

describe.each(KINDS)('an upstream of kind %s that has begun and said nothing', (kind) => {
  const begun = [STREAM_HEAD, chunkOf(BEGINNINGS[kind])];

  it.each(Object.entries(DEATHS))(
    'and %s is replaced by the next one, and the answer is paid once',
    async (_, die) => {
      const place = await scene.take(kind, {
        script: () => [...begun, ...die(kind)],
        nextScript: () => [goodAnswer(kind, true)],
      });
      const formats = ['responses', 'native', 'chat'] as const;
      for (const format of formats) {
        const told = await place.ask(format, true);
        expect(told, format).toMatchObject({ status: 200, text: 'Hello!', isComplete: true });
        expect(told.error, format).toBeUndefined();
      }
      expect(place.nextRequests()).toHaveLength(formats.length);
      expect(await place.spent()).toBeCloseTo(formats.length * priceOf(USAGE), 6);
    },
  );

  it('is heard before it says more, so that its client need not wonder', async () => {
    let goOn = () => {};
    const isHeard = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const place = await scene.take(kind, {
      async *script() {
        yield* begun;
        await isHeard;
        const { begin, say, end } = streamParts(kind);
        const said = begin.slice(begin.indexOf('event: response.output_item.added'));
        yield chunkOf((kind === 'chat' ? '' : said) + say('Hello!') + end(USAGE));
        yield LAST_CHUNK;
      },
    });
    const { model, key, gateway } = place;
    const question = { url: gateway.url, key, model, format: kind, isStream: true } as const;
    const response = await postQuestion(question);
    expect(response.status).toBe(200);
    goOn();
    expect(await response.text()).toContain('Hello!');
    expect(await place.spent()).toBeCloseTo(priceOf(USAGE), 6);
  });

  it('is paid for what it was sent if its client leaves', async () => {
    const place = await scene.take(kind, { script: () => begun });
    const { model, key, gateway } = place;
    const leaving = new AbortController();
    const question = { url: gateway.url, key, model, format: kind, isStream: true } as const;
    const asked = postQuestion(question, leaving.signal).catch(() => 'left');
    await waitUntil(() => place.requests().length === 1, 'the upstream is asked');
    leaving.abort();
    expect(await asked).toBe('left');
    expect(await place.spent()).toBeCloseTo(priceOf({ input: ESTIMATED_INPUT, output: 0 }), 6);
  });
});
