import { afterAll, describe, expect, it } from 'vitest';
import { FORMAT_NAMES } from '../../../src/protocol/format-names.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import {
  CLOSE,
  RESET,
  type Script,
  type Step,
} from '../../support/upstreams/start-scripted-upstream.ts';
import {
  answerOf,
  chunkOf,
  errorBody,
  goodAnswer,
  LAST_CHUNK,
  STREAM_HEAD,
  streamParts,
  type UpstreamKind,
  USAGE,
} from '../../support/upstreams/upstream-answers.ts';
import { priceOf, useUpstreamScene } from '../../support/upstreams/use-upstream-scene.ts';

afterAll(stopRedisServers);

const scene = useUpstreamScene();

const busy = (kind: UpstreamKind, status: number, retryAfter: string) =>
  answerOf(status, errorBody(kind, 'busy'), { 'retry-after': retryAfter });

const FAILURES: Readonly<Record<string, (kind: UpstreamKind) => Iterable<Step>>> = {
  'resets the connection': () => [RESET],
  'answers with 500': (kind) => [answerOf(500, errorBody(kind, 'broken'))],
  'is overloaded for long': (kind) => [busy(kind, 529, '30')],
};

describe.each(FORMAT_NAMES)('an upstream of kind %s', (kind) => {
  describe.each([true, false])('with a stream: %s', (isStream) => {
    const good = goodAnswer(kind, isStream);

    it.each(Object.entries(FAILURES))(
      'that %s is left for the next one, and the answer is paid once',
      async (_, fail) => {
        const place = await scene.take(kind, {
          script: () => fail(kind),
          nextScript: () => [good],
        });
        const told = await place.ask('native', isStream);
        expect(told).toMatchObject({ status: 200, text: 'Hello!', isComplete: true });
        expect([place.requests().length, place.nextRequests().length]).toEqual([1, 1]);
        expect(await place.spent()).toBeCloseTo(priceOf(USAGE), 6);
      },
    );

    it('that fails twice and then answers is asked three times, and paid once', async () => {
      const place = await scene.take(kind, {
        script: (number) => [number < 3 ? RESET : good],
      });
      expect(await place.ask('chat', isStream)).toMatchObject({ status: 200, text: 'Hello!' });
      expect(place.requests()).toHaveLength(3);
      expect(new Set(place.requests().map(({ body }) => body)).size).toBe(1);
      expect(await place.spent()).toBeCloseTo(priceOf(USAGE), 6);
    });

    it('that is well is asked once, and the next one never', async () => {
      const place = await scene.take(kind, { script: () => [good], nextScript: () => [good] });
      await place.ask('chat', isStream);
      expect([place.requests().length, place.nextRequests().length]).toEqual([1, 0]);
    });
  });

  it('that fails while the next one fails too is asked for no more than three answers with it', async () => {
    const script: Script = () => [RESET];
    const place = await scene.take(kind, { script, nextScript: script });
    expect(await place.ask('native', true)).toMatchObject({ status: 502 });
    expect(place.requests().length + place.nextRequests().length).toBe(3);
    expect(await place.spent()).toBe(0);
  });

  it('that breaks off after its first text is not replaced by the next one', async () => {
    const { begin, say } = streamParts(kind);
    const place = await scene.take(kind, {
      script: () => [STREAM_HEAD, chunkOf(begin + say('Hel')), CLOSE],
      nextScript: () => [goodAnswer(kind, true)],
    });
    expect(await place.ask('native', true)).toMatchObject({ text: 'Hel', isComplete: false });
    expect([place.requests().length, place.nextRequests().length]).toEqual([1, 0]);
  });

  it('that refuses the request is the last one to be asked', async () => {
    const place = await scene.take(kind, {
      script: () => [answerOf(400, errorBody(kind, 'no such field', 'invalid_request_error'))],
      nextScript: () => [goodAnswer(kind, false)],
    });
    expect(await place.ask('native', false)).toMatchObject({ status: 400 });
    expect([place.requests().length, place.nextRequests().length]).toEqual([1, 0]);
  });

  it.each([429, 503, 529])(
    'that says %i and when to come back is taken at its word',
    async (status) => {
      const place = await scene.take(kind, { script: () => [busy(kind, status, '30')] });
      const told = await place.ask('native', false);
      expect(told).toMatchObject({ status: 529, error: { type: 'overloaded_error' } });
      expect(told.headers.get('retry-after')).toBe('30');
      expect(place.requests()).toHaveLength(1);
      expect(await place.ask('native', false)).toMatchObject({ status: 503 });
      expect(place.requests()).toHaveLength(1);
    },
  );

  it('that does not say when to come back has clients wait for a moment', async () => {
    const place = await scene.take(kind, {
      script: () => [answerOf(429, errorBody(kind, 'busy'))],
    });
    const told = await place.ask('chat', false);
    expect(told.status).toBe(503);
    expect(told.headers.get('retry-after')).toBe('1');
    expect(place.requests()).toHaveLength(3);
  });

  it('that wants a moment gets it, and then answers', async () => {
    const place = await scene.take(kind, {
      script: (number) => [number === 1 ? busy(kind, 429, '1') : goodAnswer(kind, false)],
    });
    expect(await place.ask('native', false)).toMatchObject({ status: 200, text: 'Hello!' });
    expect(place.requests()).toHaveLength(2);
  });

  it('that begins a stream with its overload is asked again', async () => {
    const place = await scene.take(kind, {
      script: (number) => [
        number === 1
          ? STREAM_HEAD + chunkOf(streamParts(kind).error(529, 'busy')) + LAST_CHUNK
          : goodAnswer(kind, true),
      ],
    });
    expect(await place.ask('chat', true)).toMatchObject({ status: 200, text: 'Hello!' });
    expect(place.requests()).toHaveLength(2);
    expect(await place.spent()).toBeCloseTo(priceOf(USAGE), 6);
  });
});
