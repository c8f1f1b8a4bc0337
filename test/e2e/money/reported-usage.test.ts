import { afterAll, describe, expect, it } from 'vitest';
import { scrape } from '../../support/clients/scrape.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import {
  answerOf,
  chunkOf,
  LAST_CHUNK,
  type ReportedUsage,
  STREAM_HEAD,
  streamBody,
  type UpstreamKind,
  wholeBody,
} from '../../support/upstreams/upstream-answers.ts';
import { priceOf, useUpstreamScene } from '../../support/upstreams/use-upstream-scene.ts';

afterAll(stopRedisServers);

const scene = useUpstreamScene();

const TEXT = 'Hello, and good bye!';
/** The maximum that every request asks for. */
const OUTPUT_MAX = 100;
const WINDOW = 200_000;
/** The estimates for the text, and for the question with its message: nobody has counted them. */
const ESTIMATED: ReportedUsage = { input: 5, output: 7 };

const REPORTED: readonly (readonly [string, ReportedUsage | undefined, ReportedUsage, boolean])[] =
  [
    ['is reported by nobody', undefined, ESTIMATED, false],
    ['has no output', { input: 12, output: 0 }, { input: 12, output: 7 }, false],
    ['has no input', { input: 0, output: 9 }, { input: 5, output: 9 }, false],
    ['is negative', { input: -12, output: -1 }, ESTIMATED, false],
    ['is no whole number', { input: 12.5, output: 0.5 }, ESTIMATED, false],
    ['has a little more output', { input: 12, output: 101 }, { input: 12, output: 100 }, false],
    ['has far more output', { input: 12, output: 1e9 }, { input: 12, output: OUTPUT_MAX }, true],
    ['has 2^53-1', { input: 12, output: 2 ** 53 - 1 }, { input: 12, output: OUTPUT_MAX }, true],
    ['has 10^300', { input: 12, output: 1e300 }, { input: 12, output: OUTPUT_MAX }, true],
    ['has far more input', { input: 1e9, output: 3 }, { input: WINDOW, output: 3 }, true],
  ];

const streamOf = (kind: UpstreamKind, reported: ReportedUsage | undefined) =>
  streamBody(kind, [TEXT], reported).replace(
    /"usage":{"input_tokens":12,"output_tokens":0}/,
    '"usage":{}',
  );

describe.each(['native', 'chat', 'responses'] as const)('usage of a %s upstream', (kind) => {
  const formats = ['native', 'chat', 'responses'] as const;

  it.each(REPORTED)(
    'that %s is charged as it is sent to clients',
    async (_, reported, charged, isMarked) => {
      const place = await scene.take(kind, {
        script: (_number, { body }) =>
          body.includes('"stream":true')
            ? [STREAM_HEAD + chunkOf(streamOf(kind, reported)) + LAST_CHUNK]
            : [answerOf(200, wholeBody(kind, TEXT, reported))],
      });
      const asks = formats.flatMap((format) =>
        [true, false].map((isStream) => [format, isStream] as const),
      );
      for (const [format, isStream] of asks) {
        const { text, isComplete, inputTokens, outputTokens } = await place.ask(format, isStream);
        expect({ text, isComplete }).toEqual({ text: TEXT, isComplete: true });
        expect({ input: inputTokens, output: outputTokens }).toEqual(charged);
      }
      expect(await place.spent()).toBeCloseTo(asks.length * priceOf(charged), 6);
      const { model } = place;
      const marked = (await scrape(place.gateway)).sum('tollgate_usage_implausible_total', {
        model,
      });
      expect(marked ?? 0).toBe(isMarked ? asks.length : 0);
    },
  );
});

describe('an upstream that does not obey the maximum', () => {
  /** At six bytes a token, twice the usual length, these are 400. */
  const LONG = 'words '.repeat(400);

  it.each(['native', 'chat', 'responses'] as const)(
    'is paid for what clients surely got, as far as it counted that: %s',
    async (kind) => {
      for (const [counted, charged] of [
        [600, 400],
        [300, 300],
      ] as const) {
        const reported = { input: 12, output: counted };
        const place = await scene.take(kind, {
          script: (_number, { body }) =>
            body.includes('"stream":true')
              ? [STREAM_HEAD + chunkOf(streamBody(kind, [LONG], reported)) + LAST_CHUNK]
              : [answerOf(200, wholeBody(kind, LONG, reported))],
        });
        for (const isStream of [true, false]) {
          const { text, inputTokens, outputTokens } = await place.ask('chat', isStream);
          expect(text).toBe(LONG);
          expect({ inputTokens, outputTokens }).toEqual({ inputTokens: 12, outputTokens: charged });
        }
        const paid = { input: 12, output: charged };
        expect(await place.spent()).toBeCloseTo(2 * priceOf(paid), 6);
      }
    },
  );
});

describe('usage that falls within a stream', () => {
  it('is charged and sent at its highest', async () => {
    const start = { input: 50, output: 3 };
    const body = streamBody('native', [TEXT], { input: 10, output: 9 }).replace(
      '"usage":{"input_tokens":12',
      `"usage":{"input_tokens":${start.input}`,
    );
    const place = await scene.take('native', {
      script: () => [STREAM_HEAD + chunkOf(body) + LAST_CHUNK],
    });
    const { inputTokens, outputTokens } = await place.ask('native', true);
    expect({ inputTokens, outputTokens }).toEqual({ inputTokens: 50, outputTokens: 9 });
    expect(await place.spent()).toBeCloseTo(priceOf({ input: 50, output: 9 }), 6);
  });
});
