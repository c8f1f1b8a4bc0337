import { afterAll, describe, expect, it } from 'vitest';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { CLOSE, type Step } from '../../support/upstreams/start-scripted-upstream.ts';
import {
  answerOf,
  chunkOf,
  ESTIMATED_INPUT,
  goodAnswer,
  LAST_CHUNK,
  type ReportedUsage,
  STREAM_HEAD,
  streamBody,
  streamParts,
  type UpstreamKind,
  USAGE,
  wholeBody,
} from '../../support/upstreams/upstream-answers.ts';
import { priceOf, useUpstreamScene } from '../../support/upstreams/use-upstream-scene.ts';

afterAll(stopRedisServers);

const scene = useUpstreamScene();
const TEXT = 'Hello, wörld 🌍';
/** At three bytes a token. */
const TEXT_TOKENS = 6;
const BOM = '\uFEFF';

type Answer = (kind: UpstreamKind, isStream: boolean) => Iterable<Step>;

const goodText: Answer = (kind, isStream) => [goodAnswer(kind, isStream, TEXT)];
const bodyOf = (kind: UpstreamKind, isStream: boolean) =>
  isStream ? streamBody(kind, [TEXT], USAGE) : wholeBody(kind, TEXT, USAGE);

function eachByte(text: string): readonly Uint8Array[] {
  const bytes = Buffer.from(text);
  return Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
}

const HEAD_OF = { stream: 'text/event-stream', whole: 'application/json' };

const ODDITIES: Readonly<Record<string, Answer>> = {
  'sends every byte for itself': (kind, isStream) => eachByte(goodAnswer(kind, isStream, TEXT)),
  'has a chunk for every byte': (kind, isStream) => [
    STREAM_HEAD,
    ...eachByte(bodyOf(kind, isStream)).flatMap((byte) => ['1\r\n', byte, '\r\n']),
    LAST_CHUNK,
  ],
  'says 100 and 103 first': (kind, isStream) => [
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\n',
    ...goodText(kind, isStream),
  ],
  'ends its body by closing the connection': (kind, isStream) => [
    `HTTP/1.1 200 OK\r\ncontent-type: ${HEAD_OF[isStream ? 'stream' : 'whole']}\r\n\r\n`,
    bodyOf(kind, isStream),
    CLOSE,
  ],
  'sends bytes behind the end': (kind, isStream) => [
    ...goodText(kind, isStream),
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nno',
  ],
  'resets nothing but closes behind the end': (kind, isStream) => [
    ...goodText(kind, isStream),
    CLOSE,
  ],
  'writes its chunks with extensions and trailers': (kind, isStream) => [
    STREAM_HEAD,
    chunkOf(bodyOf(kind, isStream)).replace('\r\n', ';name=value\r\n'),
    '0\r\nx-trailer: 1\r\n\r\n',
  ],
};

describe.each(['native', 'chat', 'responses'] as const)('an upstream of kind %s', (kind) => {
  describe.each([
    { way: 'whole', isStream: false, format: 'chat' },
    { way: 'streamed', isStream: true, format: kind === 'responses' ? kind : 'native' },
  ] as const)('that is asked for a $way answer', ({ isStream, format }) => {
    it.each(Object.entries(ODDITIES))(
      'and %s is understood at once, again and again',
      async (_, answer) => {
        const place = await scene.take(kind, { script: () => answer(kind, isStream) });
        for (const number of [1, 2]) {
          const told = await place.ask(format, isStream);
          expect(told).toMatchObject({ status: 200, text: TEXT, isComplete: true });
          expect(told.outputTokens).toBe(USAGE.output);
          expect(place.requests()).toHaveLength(number);
        }
        expect(await place.spent()).toBeCloseTo(2 * priceOf(USAGE), 6);
      },
    );

    it.each([
      [
        'tells no usage',
        undefined,
        { input: isStream && kind === 'native' ? 12 : ESTIMATED_INPUT },
      ],
      ['tells a usage of nothing but its input', { input: 12, output: 0 }, { input: 12 }],
    ] as const)('and %s is paid for what it says', async (_, usage, { input }) => {
      const place = await scene.take(kind, { script: () => [answerWith(usage)] });
      expect(await place.ask(format, isStream)).toMatchObject({ text: TEXT, isComplete: true });
      expect(await place.spent()).toBeCloseTo(priceOf({ input, output: TEXT_TOKENS }), 6);
    });

    const answerWith = (usage: ReportedUsage | undefined) =>
      isStream
        ? STREAM_HEAD + chunkOf(streamBody(kind, [TEXT], usage)) + LAST_CHUNK
        : answerOf(200, wholeBody(kind, TEXT, usage));
  });

  it('that says more than its length is read up to the length, and never on the same connection again', async () => {
    const place = await scene.take(kind, {
      script: () => [`${answerOf(200, wholeBody(kind, TEXT, USAGE))}{"left":"over"}`],
    });
    for (const connections of [1, 2, 3]) {
      expect(await place.ask('native', false)).toMatchObject({ status: 200, text: TEXT });
      expect(new Set(place.requests().map(({ connection }) => connection)).size).toBe(connections);
    }
  });

  it('that writes its events in other ways is understood', async () => {
    const { begin, say, end } = streamParts(kind);
    const events = `${BOM}: hello\n\n${begin}: ping\n\n${say(TEXT)}${end(USAGE)}`;
    const place = await scene.take(kind, {
      script: () => [STREAM_HEAD, chunkOf(events.replaceAll('\n', '\r\n')), LAST_CHUNK],
    });
    expect(await place.ask('chat', true)).toMatchObject({ text: TEXT, isComplete: true });
  });

  it('gets the vendor key, never the key of the client', async () => {
    const place = await scene.take(kind, { script: () => goodText(kind, false) });
    await place.ask('native', false);
    const [request] = place.requests();
    expect(request?.head).toContain('vendor-key');
    expect(request?.head).not.toContain('sk-gw2');
    expect(JSON.parse(request?.body ?? '')).toMatchObject({ model: place.model });
  });
});
