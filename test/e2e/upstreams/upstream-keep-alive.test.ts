import { afterAll, describe, expect, it } from 'vitest';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { CLOSE, RESET, type Step } from '../../support/upstreams/start-scripted-upstream.ts';
import {
  chunkOf,
  goodAnswer,
  STREAM_HEAD,
  streamParts,
  USAGE,
} from '../../support/upstreams/upstream-answers.ts';
import {
  type Place,
  priceOf,
  useUpstreamScene,
} from '../../support/upstreams/use-upstream-scene.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterAll(stopRedisServers);

const scene = useUpstreamScene();

const connectionsOf = (place: Place) => place.requests().map(({ connection }) => connection);

describe.each(['native', 'chat'] as const)(
  'a kept connection to an upstream of kind %s',
  (kind) => {
    describe.each([true, false])('with a stream: %s', (isStream) => {
      const good = goodAnswer(kind, isStream);
      /** All answers are good except the second one of the upstream. */
      const takePlace = (...second: readonly Step[]) =>
        scene.take(kind, { script: (number) => (number === 2 ? second : [good]) });
      const askTwice = async (place: Place) => {
        expect(await place.ask('native', isStream)).toMatchObject({ status: 200, text: 'Hello!' });
        return place.ask('native', isStream);
      };

      it('carries one request after the other', async () => {
        const place = await takePlace(good);
        expect(await askTwice(place)).toMatchObject({ status: 200, text: 'Hello!' });
        const [first, ...others] = connectionsOf(place);
        expect(others).toEqual([first]);
      });

      it.each([
        ['is reset', RESET],
        ['is closed', CLOSE],
      ] as const)(
        'that %s under the next request costs one more request, on a new connection',
        async (_, end) => {
          const place = await takePlace(end);
          expect(await askTwice(place)).toMatchObject({ status: 200, text: 'Hello!' });
          const [first, second, third, ...more] = connectionsOf(place);
          expect(second).toBe(first);
          expect(third).not.toBe(first);
          expect(more).toEqual([]);
          expect(await place.spent()).toBeCloseTo(2 * priceOf(USAGE), 6);
        },
      );
    });

    it('is given up when an answer has reported all and does not end', async () => {
      const { begin, say, end } = streamParts(kind);
      const place = await scene.take(kind, {
        script: () => [STREAM_HEAD + chunkOf(begin + say('Hello!') + end(USAGE))],
      });
      const told = await place.ask('native', true);
      expect(told).toMatchObject({ status: 200, text: 'Hello!', isComplete: true });
      const [request] = place.requests();
      await waitUntil(() => request?.isConnectionClosed() === true, 'the connection is closed');
      expect(await place.spent()).toBeCloseTo(priceOf(USAGE), 6);
    });

    it('that breaks when something was said is not repeated', async () => {
      const { begin, say } = streamParts(kind);
      const place = await scene.take(kind, {
        script: (number) =>
          number === 1
            ? [goodAnswer(kind, true)]
            : [STREAM_HEAD + chunkOf(begin + say('Hel')), CLOSE],
      });
      await place.ask('chat', true);
      expect(await place.ask('chat', true)).toMatchObject({ text: 'Hel', isComplete: false });
      expect(place.requests()).toHaveLength(2);
    });

    it('adds no more than one request to the three of an upstream that has died', async () => {
      const place = await scene.take(kind, {
        script: (number) => [number === 1 ? goodAnswer(kind, false) : RESET],
      });
      await place.ask('chat', false);
      expect(await place.ask('chat', false)).toMatchObject({ status: 502 });
      expect(place.requests()).toHaveLength(1 + 1 + 3);
    });
  },
);
