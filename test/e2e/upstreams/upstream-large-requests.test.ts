import { afterAll, describe, expect, it } from 'vitest';
import { FORMAT_NAMES } from '../../../src/protocol/format-names.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import type { ScriptedRequest } from '../../support/upstreams/start-scripted-upstream.ts';
import { goodAnswer, USAGE } from '../../support/upstreams/upstream-answers.ts';
import { priceOf, useUpstreamScene } from '../../support/upstreams/use-upstream-scene.ts';

afterAll(stopRedisServers);

const scene = useUpstreamScene();

/** A long prompt with all kinds of characters that are written in different ways. */
const PROMPT = 'Tell me "all" \\ about\n\tRīga, 中文 and 🌍.\u3000'.repeat(3_000).trim();

interface Content {
  readonly content: string | readonly { readonly text: string }[];
}

/** All that an upstream is sent to read, in the words of any kind. */
function readTexts(request: ScriptedRequest | undefined): string[] {
  const { messages, input } = JSON.parse(request?.body ?? '') as {
    readonly messages?: readonly Content[];
    readonly input?: string | readonly Content[];
  };
  if (typeof input === 'string') return [input];
  return (messages ?? input ?? []).flatMap(({ content }) =>
    typeof content === 'string' ? content : content.map(({ text }) => text),
  );
}

describe.each(FORMAT_NAMES)('a large request of the %s format', (format) => {
  it.each(FORMAT_NAMES)(
    'reaches an upstream of kind %s with all of its text, and is charged',
    async (kind) => {
      const place = await scene.take(kind, { script: () => goodAnswer(kind, false) });
      expect(await place.ask(format, false, PROMPT)).toMatchObject({
        status: 200,
        isComplete: true,
      });
      const [request, ...others] = place.requests();
      expect(others).toEqual([]);
      expect(readTexts(request)).toEqual([PROMPT]);
      expect(await place.spent()).toBe(priceOf(USAGE));
    },
  );

  it('reaches the upstream that comes second with all of its text, when the first one is down', async () => {
    const place = await scene.take(format, {
      script: () => ['HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n'],
      nextScript: () => goodAnswer(format, true),
    });
    expect(await place.ask(format, true, PROMPT)).toMatchObject({ isComplete: true });
    expect(readTexts(place.nextRequests()[0])).toEqual([PROMPT]);
  });

  it('that is wrong is refused by what it says, and nothing is charged', async () => {
    const place = await scene.take(format, { script: () => goodAnswer(format, false) });
    const told = await place.ask(format, false, ` ${' '.repeat(20_000)}`);
    expect(told.status).toBe(400);
    expect(place.requests()).toEqual([]);
    expect(await place.spent()).toBe(0);
  });
});
