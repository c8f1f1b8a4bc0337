import { afterAll, describe, expect, it } from 'vitest';
import { FORMAT_NAMES } from '../../../../src/protocol/format-names.ts';
import { askGateway } from '../../../support/clients/ask-gateway.ts';
import { stopRedisServers } from '../../../support/servers/start-redis-server.ts';
import { answerOf, goodAnswer } from '../../../support/upstreams/upstream-answers.ts';
import { priceOf, useUpstreamScene } from '../../../support/upstreams/use-upstream-scene.ts';

afterAll(stopRedisServers);

const scene = useUpstreamScene({ kinds: ['responses'] });
const LEAST = 16;
const USED = { input: 12, output: LEAST };

/** As OpenAI does. */
function answer(body: string, isStream: boolean): string {
  const max = Number(JSON.parse(body).max_output_tokens);
  if (max >= LEAST) return goodAnswer('responses', isStream, 'Hello!', USED);
  const message = `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= ${LEAST}, but got ${max} instead.`;
  const type = 'invalid_request_error';
  const error = { message, type, param: 'max_output_tokens', code: 'integer_below_min_value' };
  return answerOf(400, JSON.stringify({ error }));
}

const take = (isStream: boolean) =>
  scene.take('responses', { script: (_, { body }) => [answer(body, isStream)] });

const translated = FORMAT_NAMES.filter((format) => format !== 'responses');
const isStreams = [false, true];

describe('a request for fewer tokens than a Responses upstream takes', () => {
  it.each(translated.flatMap((format) => isStreams.map((isStream) => [format, isStream] as const)))(
    'of a %s client is answered, and pays for no more than was asked for, streamed: %s',
    async (format, isStream) => {
      const place = await take(isStream);
      const question = { ...place, url: place.gateway.url, format, isStream };
      const told = await askGateway({ ...question, outputMax: 10 });
      expect(told).toMatchObject({ status: 200, text: 'Hello!', outputTokens: 10 });
      expect(await place.spent()).toBeCloseTo(priceOf({ ...USED, output: 10 }), 6);
      expect(place.requests()).toHaveLength(1);
    },
  );

  it.each(isStreams)(
    'of a Responses client goes on as it is, and so does the refusal, streamed: %s',
    async (isStream) => {
      const place = await take(isStream);
      const question = { ...place, url: place.gateway.url, format: 'responses', isStream } as const;
      const told = await askGateway({ ...question, outputMax: 10 });
      expect(told).toMatchObject({ status: 400 });
      expect(told.error?.message).toContain('but got 10 instead');
      expect(await place.spent()).toBe(0);
    },
  );
});
