import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { FORMAT_NAMES } from '../../../src/protocol/format-names.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import type { Step } from '../../support/upstreams/start-scripted-upstream.ts';
import {
  answerOf,
  chunkOf,
  ESTIMATED_INPUT,
  goodAnswer,
  LAST_CHUNK,
  STREAM_HEAD,
  streamParts,
  type UpstreamKind,
  USAGE,
  wholeBody,
} from '../../support/upstreams/upstream-answers.ts';
import {
  OTHER_FORMATS,
  type Place,
  priceOf,
  useUpstreamScene,
} from '../../support/upstreams/use-upstream-scene.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterAll(stopRedisServers);

const scene = useUpstreamScene({
  timeouts: '{connect: 30s, first_byte: 4s, idle: 6s, total: 12s}',
});

const UNBEGUN = 'The upstream did not begin to answer within 4 seconds.';
const SILENT = 'The upstream broke off: it said nothing for 6 seconds.';
const TOO_LONG = 'The answer took longer than 12 seconds.';
/** The limit of the request, and so the most that is charged. */
const OUTPUT_TOKENS_MAX = 100;
/** Far below the idle deadline, even on a slow machine. */
const PAUSE_MS = 100;

const SLOW_TYPE = { native: 'timeout_error', chat: 'server_error', responses: 'server_error' };

async function waitUntilHungUp(place: Place): Promise<void> {
  await waitUntil(
    () => place.requests().every((request) => request.isConnectionClosed()),
    'the upstream is hung up on',
  );
}

// These tests spend most of their time waiting.
describe.concurrent.each(FORMAT_NAMES)('an upstream of kind %s', (kind) => {
  const parts = streamParts(kind);
  const inputTokens = kind === 'native' ? USAGE.input : ESTIMATED_INPUT;

  describe.each([kind, OTHER_FORMATS[kind]])('with a client of format %s', (format) => {
    const type = SLOW_TYPE[format];

    it.each(Object.entries(STALLS))(
      'that stalls %s is hung up on after the first deadline, asked once, and costs nothing',
      async (_, stall) => {
        const place = await scene.take(kind, { script: () => stall(kind) });
        const told = await place.ask(format, true);
        expect(told).toMatchObject({ status: 504, text: '', error: { type, message: UNBEGUN } });
        await waitUntilHungUp(place);
        expect(place.requests()).toHaveLength(1);
        expect(await place.spent()).toBe(0);
      },
    );

    it.each([
      ['between two events', ''],
      ['in the middle of an event', parts.say('more').slice(0, -2)],
    ])(
      'that stalls %s is hung up on after the idle deadline; what came is paid',
      async (_, piece) => {
        const place = await scene.take(kind, {
          script: () => [STREAM_HEAD, chunkOf(parts.begin + parts.say('Hello, ') + piece)],
        });
        const told = await place.ask(format, true);
        expect(told).toMatchObject({
          status: 200,
          text: 'Hello, ',
          error: { type, message: SILENT },
        });
        expect(told.isComplete).toBe(false);
        await waitUntilHungUp(place);
        expect(place.requests()).toHaveLength(1);
        const usage = { input: inputTokens, output: 3 };
        expect(await place.spent()).toBeCloseTo(priceOf(usage), 6);
      },
    );

    it.each([
      ['at once', []],
      ['in its middle', [answerOf(200, wholeBody(kind, 'Hello!', USAGE)).slice(0, -5)]],
    ])(
      'that stalls in a whole answer, %s, has all the time there is, and costs nothing',
      async (_, steps) => {
        const place = await scene.take(kind, { script: () => steps });
        const told = await place.ask(format, false);
        expect(told).toMatchObject({ status: 504, error: { type, message: TOO_LONG } });
        await waitUntilHungUp(place);
        expect(place.requests()).toHaveLength(1);
        expect(await place.spent()).toBe(0);
      },
    );

    it('that is silent for longer than the idle deadline, but alive, is waited for', async () => {
      const place = await scene.take(kind, { script: () => thinkForLong(kind) });
      const told = await place.ask(format, true);
      expect(told).toMatchObject({ status: 200, text: 'Hello, you!', isComplete: true });
      expect(place.requests()).toHaveLength(1);
    });

    it('that never comes to an end is hung up on after the last deadline; what came is paid', async () => {
      const place = await scene.take(kind, { script: () => talkForEver(kind) });
      const told = await place.ask(format, true);
      expect(told).toMatchObject({ status: 200, error: { type, message: TOO_LONG } });
      await waitUntilHungUp(place);
      expect(place.requests()).toHaveLength(1);
      const output = Math.min(Math.ceil(told.text.length / 3), OUTPUT_TOKENS_MAX);
      expect(output).toBeGreaterThan(0);
      expect(await place.spent()).toBeCloseTo(priceOf({ input: inputTokens, output }), 6);
    });
  });

  it('that stalls before the first event is replaced by the next one', async () => {
    const place = await scene.take(kind, {
      script: () => [STREAM_HEAD],
      nextScript: () => [goodAnswer(kind, true)],
    });
    expect(await place.ask('native', true)).toMatchObject({ status: 200, text: 'Hello!' });
    expect([place.requests().length, place.nextRequests().length]).toEqual([1, 1]);
    await waitUntil(
      () => place.requests()[0]?.isConnectionClosed() === true,
      'the first one is hung up on',
    );
  });
});

const STALLS: Readonly<Record<string, (kind: UpstreamKind) => Iterable<Step>>> = {
  'before the head': () => [],
  'in the middle of the head': () => ['HTTP/1.1 200 OK\r\ncontent-'],
  'after the head of a stream': () => [STREAM_HEAD],
  'in the middle of the first event': (kind) => [
    STREAM_HEAD,
    chunkOf(streamParts(kind).begin.slice(0, 30)),
  ],
};

/** For longer than the idle deadline it sends only comments, or chunks that say nothing. */
async function* thinkForLong(kind: UpstreamKind): AsyncIterable<Step> {
  const { begin, say, end } = streamParts(kind);
  yield STREAM_HEAD + chunkOf(begin + say('Hello, '));
  for (const untilMs = performance.now() + 7_000; performance.now() < untilMs; ) {
    yield chunkOf(kind === 'chat' ? say('') : ': alive\n\n');
    await sleep(PAUSE_MS);
  }
  yield chunkOf(say('you!') + end(USAGE)) + LAST_CHUNK;
}

async function* talkForEver(kind: UpstreamKind): AsyncIterable<Step> {
  const { begin, say } = streamParts(kind);
  yield STREAM_HEAD + chunkOf(begin);
  for (;;) {
    yield chunkOf(say('on '));
    await sleep(PAUSE_MS);
  }
}
