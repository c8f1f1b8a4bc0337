import { afterAll, describe, expect, it } from 'vitest';
import { FORMAT_NAMES } from '../../../src/protocol/format-names.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { answerOf, errorBody, goodAnswer } from '../../support/upstreams/upstream-answers.ts';
import { OTHER_FORMATS, useUpstreamScene } from '../../support/upstreams/use-upstream-scene.ts';

afterAll(stopRedisServers);

const scene = useUpstreamScene();
const SECRET = 'organisation 4711 at internal-host-17';
const COMPLAINT = 'messages: roles must alternate';
const QUOTATION = 'messages.0.api_key: Extra inputs are not permitted';

/** What clients of native see, and what those of the other formats see. */
const OVERLOADED = { native: [529, 'overloaded_error'], others: [503, 'server_error'] } as const;
const BROKEN = { native: [502, 'api_error'], others: [502, 'server_error'] } as const;
const SLOW = { native: [504, 'timeout_error'], others: [504, 'server_error'] } as const;

/** A status, what the client sees of it, and how often the upstream is asked. */
const OTHERS = [
  [301, BROKEN, 1],
  [401, BROKEN, 1],
  [402, BROKEN, 1],
  [403, BROKEN, 1],
  [405, BROKEN, 1],
  [408, SLOW, 1],
  [429, OVERLOADED, 3],
  [500, BROKEN, 3],
  [501, BROKEN, 3],
  [503, OVERLOADED, 3],
] as const;

describe.each(FORMAT_NAMES)('an upstream of kind %s', (kind) => {
  const isStream = kind === 'native';

  describe.each([kind, OTHER_FORMATS[kind]])('with a client of format %s', (format) => {
    it.each([
      [400, 400, 'invalid_request_error'],
      [422, 400, 'invalid_request_error'],
      [413, 413, format === 'native' ? 'request_too_large' : 'invalid_request_error'],
    ])(
      'that says %i is asked once, and the client reads in its words what is wrong',
      async (given, status, type) => {
        const place = await scene.take(kind, {
          script: () => [answerOf(given, errorBody(kind, COMPLAINT, 'invalid_request_error'))],
        });
        const told = await place.ask(format, isStream);
        expect(told).toMatchObject({ status, error: { type, message: COMPLAINT } });
        expect(place.requests()).toHaveLength(1);
        expect(await place.spent()).toBe(0);
      },
    );

    // The kind of the client changes only the refusal, which is the same for many statuses.
    const others = format === kind ? [] : OTHERS;

    it.each([...others, [404, BROKEN, 1], [504, SLOW, 1], [529, OVERLOADED, 3]] as const)(
      'that says %i keeps to itself why',
      async (given, expected, calls) => {
        const place = await scene.take(kind, {
          script: () => [answerOf(given, errorBody(kind, SECRET))],
        });
        const told = await place.ask(format, isStream);
        const [status, type] = expected[format === 'native' ? format : 'others'];
        expect(told).toMatchObject({ status, text: '', error: { type } });
        expect(told.error?.message).not.toContain('4711');
        expect(place.requests()).toHaveLength(calls);
        expect(await place.spent()).toBe(0);
      },
    );
  });

  it.each([401, 403, 404])(
    'that says %i is left for the next one, which is asked once',
    async (status) => {
      const place = await scene.take(kind, {
        script: () => [answerOf(status, errorBody(kind, SECRET))],
        nextScript: () => [goodAnswer(kind, isStream)],
      });
      expect(await place.ask('native', isStream)).toMatchObject({ status: 200, text: 'Hello!' });
      expect([place.requests().length, place.nextRequests().length]).toEqual([1, 1]);
    },
  );

  it.each([
    [400, 400],
    [403, 502],
  ])(
    'that says %i to what one client wrote is there for all others, however often that was',
    async (given, status) => {
      const refused = answerOf(given, errorBody(kind, QUOTATION, 'invalid_request_error'));
      const place = await scene.take(kind, {
        script: (number) => [number <= 5 ? refused : goodAnswer(kind, isStream)],
      });
      const asked = Array.from({ length: 5 }, () => place.ask('native', isStream));
      for (const told of await Promise.all(asked)) {
        expect(told.status).toBe(status);
        if (given === 400) expect(told.error?.message).toBe(QUOTATION);
      }
      expect(await place.ask('native', isStream)).toMatchObject({ status: 200, text: 'Hello!' });
      expect(place.requests()).toHaveLength(6);
    },
  );

  it('that says with status 200 what is wrong is asked once, and read by the client', async () => {
    const body = errorBody(kind, COMPLAINT, 'invalid_request_error');
    const place = await scene.take(kind, { script: () => [answerOf(200, body)] });
    const told = await place.ask('native', false);
    expect(told).toMatchObject({ status: 400, error: { message: COMPLAINT } });
    expect(place.requests()).toHaveLength(1);
  });
});
