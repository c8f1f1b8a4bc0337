import { afterAll, describe, expect, it } from 'vitest';
import { FORMAT_NAMES } from '../../../src/protocol/format-names.ts';
import { postQuestion } from '../../support/clients/ask-gateway.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import {
  chunkOf,
  ESTIMATED_INPUT,
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

function post({ gateway, model, key }: Place, signal: AbortSignal): Promise<Response> {
  return postQuestion({ url: gateway.url, key, model, format: 'chat', isStream: true }, signal);
}

async function expectHungUp(place: Place): Promise<void> {
  await waitUntil(
    () => place.requests()[0]?.isConnectionClosed() === true,
    'the upstream is hung up on',
  );
  expect(place.requests()).toHaveLength(1);
  expect(place.nextRequests()).toEqual([]);
}

describe.each(FORMAT_NAMES)('an upstream of kind %s', (kind) => {
  const { begin, say } = streamParts(kind);

  it('whose client leaves before anything came is hung up on, and its input is paid', async () => {
    const place = await scene.take(kind, { script: () => [], nextScript: () => [] });
    const leaving = new AbortController();
    const response = post(place, leaving.signal);
    await waitUntil(() => place.requests().length === 1, 'it is asked');
    leaving.abort();
    await expect(response).rejects.toThrow();
    await expectHungUp(place);
    expect(await place.spent()).toBeCloseTo(priceOf({ input: ESTIMATED_INPUT, output: 0 }), 6);
  });

  it('whose client leaves in the middle of a stream is hung up on, and what came is paid', async () => {
    const place = await scene.take(kind, {
      script: () => [STREAM_HEAD + chunkOf(begin + say('Hello, '))],
      nextScript: () => [],
    });
    const leaving = new AbortController();
    const response = await post(place, leaving.signal);
    const decoder = new TextDecoder();
    let text = '';
    const read = async () => {
      for await (const bytes of response.body ?? []) {
        text += decoder.decode(bytes, { stream: true });
        if (text.includes('Hello, ')) leaving.abort();
      }
    };
    await expect(read()).rejects.toThrow();
    await expectHungUp(place);
    const usage = { input: kind === 'native' ? USAGE.input : ESTIMATED_INPUT, output: 3 };
    expect(await place.spent()).toBeCloseTo(priceOf(usage), 6);
  });
});
