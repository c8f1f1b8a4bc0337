import { afterAll, describe, expect, it } from 'vitest';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { CLOSE, RESET, type Step } from '../../support/upstreams/start-scripted-upstream.ts';
import {
  answerOf,
  chunkOf,
  ESTIMATED_INPUT,
  LAST_CHUNK,
  STREAM_HEAD,
  streamParts,
  type UpstreamKind,
  USAGE,
  wholeBody,
} from '../../support/upstreams/upstream-answers.ts';
import { priceOf, useUpstreamScene } from '../../support/upstreams/use-upstream-scene.ts';

afterAll(stopRedisServers);

const scene = useUpstreamScene();
const SECRET = 'internal-host-17';
const SAID = 'Hello, ';
/** At three bytes a token. */
const SAID_TOKENS = 3;

/** The bytes after the head and the events that say `SAID`. */
type Break = (kind: UpstreamKind) => Iterable<Step>;

const next = (kind: UpstreamKind) => Buffer.from(streamParts(kind).say('wörld'));

/** A complete chunk with the first `end` bytes of the next event. */
const cutNext = (kind: UpstreamKind, end: number) => {
  const bytes = next(kind).subarray(0, end);
  return [`${bytes.length.toString(16)}\r\n`, bytes, '\r\n'] as const;
};

const BREAKS: Readonly<Record<string, Break>> = {
  'resets the connection': () => [RESET],
  'closes the connection between two events': () => [CLOSE],
  'closes it in the middle of a character': (kind) => [
    ...cutNext(kind, next(kind).indexOf('ö') + 1),
    CLOSE,
  ],
  'closes it in the middle of an event': (kind) => [...cutNext(kind, 20), CLOSE],
  'closes it in the middle of a chunk': (kind) => [
    chunkOf(next(kind).toString()).slice(0, 30),
    CLOSE,
  ],
  'ends the body in order without the end of the answer': () => [LAST_CHUNK],
  'goes on with a chunk that has no size': (kind) => [`zz\r\n${next(kind)}\r\n`],
  'goes on with an event that is no JSON': () => [chunkOf(`data: ${SECRET}\n\n`), LAST_CHUNK],
  'sends an error and ends': (kind) => [chunkOf(streamParts(kind).error(500, SECRET)), LAST_CHUNK],
  'sends an error and goes on as if nothing was': (kind) => {
    const { error, say, end } = streamParts(kind);
    return [chunkOf(error(500, SECRET) + say('world') + end(USAGE)), LAST_CHUNK];
  },
};

describe.each(['native', 'chat', 'responses'] as const)('an upstream of kind %s', (kind) => {
  const { begin, say, error } = streamParts(kind);
  /** Chat upstreams tell the input only at the end. */
  const inputTokens = kind === 'native' ? USAGE.input : ESTIMATED_INPUT;

  const formats = ['native', kind === 'responses' ? 'responses' : 'chat'] as const;
  describe.each(formats)('with a client of format %s', (format) => {
    it.each(Object.entries(BREAKS))(
      'that %s after some text is asked once; the client keeps and pays what came, and is told',
      async (_, breakOff) => {
        const place = await scene.take(kind, {
          script: () => [STREAM_HEAD, chunkOf(begin + say(SAID)), ...breakOff(kind)],
        });
        const told = await place.ask(format, true);
        expect(told).toMatchObject({ status: 200, text: SAID, isComplete: false });
        expect(told.error?.type).toBe(format === 'native' ? 'api_error' : 'server_error');
        expect(told.error?.message).not.toContain(SECRET);
        expect(place.requests()).toHaveLength(1);
        const usage = { input: inputTokens, output: SAID_TOKENS };
        expect(await place.spent()).toBeCloseTo(priceOf(usage), 6);
      },
    );

    it('that is overloaded in the middle of a stream says so at the end of it', async () => {
      const place = await scene.take(kind, {
        script: () => [STREAM_HEAD, chunkOf(begin + say(SAID) + error(529, SECRET)), LAST_CHUNK],
      });
      const told = await place.ask(format, true);
      expect(told).toMatchObject({
        status: 200,
        text: SAID,
        error: { type: format === 'native' ? 'overloaded_error' : 'server_error' },
      });
      expect(told.error?.message).not.toContain(SECRET);
      expect(place.requests()).toHaveLength(1);
    });
  });

  it('that says more than anybody waits for, and an error, all at once loses none of it', async () => {
    const events = begin + say('x').repeat(300) + error(500, SECRET);
    const place = await scene.take(kind, {
      script: () => [STREAM_HEAD + chunkOf(events) + LAST_CHUNK],
    });
    const told = await place.ask('native', true);
    expect(told).toMatchObject({ text: 'x'.repeat(300), error: { type: 'api_error' } });
    expect(place.requests()).toHaveLength(1);
    expect(await place.spent()).toBeCloseTo(priceOf({ input: inputTokens, output: 100 }), 6);
  });

  it('that breaks off before the first text costs nothing, whatever it has reported of its usage', async () => {
    const place = await scene.take(kind, {
      script: () => [STREAM_HEAD, chunkOf(begin), CLOSE],
    });
    const told = await place.ask('native', true);
    expect(told).toMatchObject({ text: '', isComplete: false, error: { type: 'api_error' } });
    expect(await place.spent()).toBe(0);
  });

  it('that breaks off an answer that is not streamed has delivered nothing, so nothing is charged', async () => {
    const answer = answerOf(200, wholeBody(kind, 'Hello!', USAGE));
    const place = await scene.take(kind, { script: () => [answer.slice(0, -1), CLOSE] });
    expect(await place.ask('native', false)).toMatchObject({ status: 502, text: '' });
    expect(place.requests()).toHaveLength(3);
    expect(await place.spent()).toBe(0);
  });
});
