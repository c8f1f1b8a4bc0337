import { afterAll, describe, expect, it } from 'vitest';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import {
  chunkOf,
  LAST_CHUNK,
  STREAM_HEAD,
  streamParts,
} from '../../support/upstreams/upstream-answers.ts';
import { priceOf, useUpstreamScene } from '../../support/upstreams/use-upstream-scene.ts';

afterAll(stopRedisServers);

const scene = useUpstreamScene();

/** 80 tokens, at three bytes each. */
const TEXT = 'words '.repeat(40);

const CHAT_PARTS = streamParts('chat');
const NATIVE_PARTS = streamParts('native');

/** Each begins with a usage. */
const BEGINNINGS = {
  chat: (output: number) => {
    const usage = { prompt_tokens: 12, completion_tokens: output, total_tokens: 12 + output };
    return CHAT_PARTS.begin.replace(/"choices"/, `"usage":${JSON.stringify(usage)},"choices"`);
  },
  native: (output: number) => {
    const data = JSON.stringify({
      type: 'message_delta',
      delta: {},
      usage: { input_tokens: 12, output_tokens: output },
    });
    return `${NATIVE_PARTS.begin}event: message_delta\ndata: ${data}\n\n`;
  },
} as const;

describe.each(['chat', 'native'] as const)('the only usage of a %s upstream', (kind) => {
  const { say, end } = streamParts(kind);

  it.each([
    ['that was made before the answer leaves the rest to an estimate', 1, 81],
    ['that was made early, but counts about as much as came, is charged', 60, 60],
  ])('%s', async (_, reported, charged) => {
    const parts = [BEGINNINGS[kind](reported), say(TEXT), end(undefined)];
    for (const chunks of [parts, [parts.join('')]]) {
      const place = await scene.take(kind, {
        script: () => [STREAM_HEAD, ...chunks.map(chunkOf), LAST_CHUNK],
      });
      for (const format of ['chat', 'native'] as const) {
        const { text, isComplete, inputTokens, outputTokens } = await place.ask(format, true);
        expect({ text, isComplete }).toEqual({ text: TEXT, isComplete: true });
        expect({ inputTokens, outputTokens }).toEqual({ inputTokens: 12, outputTokens: charged });
      }
      const paid = { input: 12, output: charged };
      expect(await place.spent()).toBeCloseTo(2 * priceOf(paid), 6);
    }
  });
});
