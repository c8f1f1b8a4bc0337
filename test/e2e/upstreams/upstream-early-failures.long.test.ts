import { afterAll, describe, expect, it } from 'vitest';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { CLOSE, RESET, type Step } from '../../support/upstreams/start-scripted-upstream.ts';
import {
  answerOf,
  chunkOf,
  errorBody,
  goodAnswer,
  LAST_CHUNK,
  STREAM_HEAD,
  streamBody,
  streamParts,
  type UpstreamKind,
  USAGE,
  wholeBody,
} from '../../support/upstreams/upstream-answers.ts';
import { useUpstreamScene } from '../../support/upstreams/use-upstream-scene.ts';

afterAll(stopRedisServers);

const scene = useUpstreamScene();
const SECRET = 'internal-host-17';
const HTML = `<html><body>${SECRET} is down</body></html>`;

type Answer = (kind: UpstreamKind, isStream: boolean) => Iterable<Step>;

const headOf = (lines: string) =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${lines}\r\n`;

/** Half of the answer: it ends in the middle of the first event or of the JSON. */
const halfOf = (kind: UpstreamKind, isStream: boolean) => {
  const good = isStream ? streamParts(kind).begin : wholeBody(kind, 'Hello!', USAGE);
  return good.slice(0, good.length / 4);
};

const FAILURES: Readonly<Record<string, Answer>> = {
  'resets the connection': () => [RESET],
  'closes the connection': () => [CLOSE],
  'resets behind the head': (_kind, isStream) => [
    isStream ? STREAM_HEAD : headOf('content-length: 100\r\n'),
    RESET,
  ],
  'stops in the middle of a body of known length': (kind, isStream) => [
    headOf('content-length: 1000\r\n'),
    halfOf(kind, isStream),
    CLOSE,
  ],
  'stops in the middle of a chunk': (kind, isStream) => [
    STREAM_HEAD,
    chunkOf(halfOf(kind, isStream)).slice(0, -10),
    CLOSE,
  ],
  'ends a body of half an answer in order': (kind, isStream) => [
    answerOf(200, halfOf(kind, isStream)),
  ],
  'answers with an empty body': () => [answerOf(200, '')],
  'answers with garbage': () => [`\x16\x03\x01 ${SECRET}\r\n\r\n`, CLOSE],
  'says two lengths': (kind, isStream) => [
    goodAnswer(kind, isStream).replace('\r\n\r\n', '\r\ncontent-length: 5\r\n\r\n'),
  ],
  'answers with a page and status 200': () => [
    answerOf(200, HTML, { 'content-type': 'text/html' }),
  ],
  'answers with a page and status 502': () => [
    answerOf(502, HTML, { 'content-type': 'text/html' }),
  ],
  'answers with an error and status 200': (kind) => [answerOf(200, errorBody(kind, SECRET))],
  'answers with an error and status 500': (kind) => [answerOf(500, errorBody(kind, SECRET))],
  'sends an error as its first event': (kind) => [
    STREAM_HEAD + chunkOf(streamParts(kind).error(500, SECRET)) + LAST_CHUNK,
  ],
  'begins an event that never ends': (kind) => [
    STREAM_HEAD,
    chunkOf(`data: ${streamBody(kind, ['Hello!'], USAGE).replaceAll('\n', ' ')}`),
    LAST_CHUNK,
  ],
};

describe.each(['native', 'chat', 'responses'] as const)('an upstream of kind %s', (kind) => {
  describe.each([
    { way: 'whole', isStream: false, format: kind === 'responses' ? kind : 'native' },
    { way: 'streamed', isStream: true, format: 'chat' },
  ] as const)('that is asked for a $way answer', ({ isStream, format }) => {
    it.each(Object.entries(FAILURES))(
      'and %s is asked three times, then its client gets a 502 for nothing',
      async (_, answer) => {
        const place = await scene.take(kind, { script: () => answer(kind, isStream) });
        const told = await place.ask(format, isStream);
        expect(told).toMatchObject({ status: 502, text: '', isComplete: false });
        expect(told.error?.type).toBe(format === 'native' ? 'api_error' : 'server_error');
        expect(told.error?.message).not.toContain(SECRET);
        expect(place.requests()).toHaveLength(3);
        expect(await place.spent()).toBe(0);
      },
    );
  });
});
