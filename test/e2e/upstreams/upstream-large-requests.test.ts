import { afterAll, describe, expect, it } from 'vitest';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { goodAnswer, USAGE } from '../../support/upstreams/upstream-answers.ts';
import { priceOf, useUpstreamScene } from '../../support/upstreams/use-upstream-scene.ts';

afterAll(stopRedisServers);

const scene = useUpstreamScene();

/** A long prompt with all kinds of characters that are written in different ways. */
const PROMPT = 'Tell me "all" \\ about\n\tRīga, 中文 and 🌍.\u3000'.repeat(3_000).trim();

const KINDS = ['native', 'chat'] as const;

describe.each(KINDS)('a large request of the %s format', (format) => {
  it.each(KINDS)(
    'reaches an upstream of kind %s with all of its text, and is charged',
    async (kind) => {
      const place = await scene.take(kind, { script: () => goodAnswer(kind, false) });
      expect(await place.ask(format, false, PROMPT)).toMatchObject({
        status: 200,
        isComplete: true,
      });
      const [request, ...others] = place.requests();
      expect(others).toEqual([]);
      const { messages } = JSON.parse(request?.body ?? '') as { messages: unknown };
      expect(messages).toEqual([{ role: 'user', content: PROMPT }]);
      expect(await place.spent()).toBe(priceOf(USAGE));
    },
  );

  it('reaches the upstream that comes second with all of its text, when the first one is down', async () => {
    const place = await scene.take(format, {
      script: () => ['HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n'],
      nextScript: () => goodAnswer(format, true),
    });
    expect(await place.ask(format, true, PROMPT)).toMatchObject({ isComplete: true });
    const { messages } = JSON.parse(place.nextRequests()[0]?.body ?? '') as { messages: unknown };
    expect(messages).toEqual([{ role: 'user', content: PROMPT }]);
  });

  it('that is wrong is refused by what it says, and nothing is charged', async () => {
    const place = await scene.take(format, { script: () => goodAnswer(format, false) });
    const told = await place.ask(format, false, ` ${' '.repeat(20_000)}`);
    expect(told.status).toBe(400);
    expect(place.requests()).toEqual([]);
    expect(await place.spent()).toBe(0);
  });
});
