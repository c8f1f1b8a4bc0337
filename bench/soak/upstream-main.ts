/**
 * Upstreams of all formats, each under its name, as `/native`, that mostly succeed. They have their
 * own process.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  errorBody,
  streamParts,
  type UpstreamKind,
  wholeBody,
} from '../../test/support/upstreams/upstream-answers.ts';

const WORDS_MAX = 40;
const EVENT_PAUSE_MAX_MS = 20;
/** Longer than a node waits. */
const STALL_MS = 20_000;
const SLOW_MAX_MS = 1_500;

type Mood = 'well' | 'slow' | 'stalled' | 'error' | 'overloaded' | 'reset' | 'broken' | 'uncounted';

/** How many requests of a thousand meet each mood. All others get a good answer. */
const MOODS: readonly (readonly [Mood, number])[] = [
  ['slow', 30],
  ['stalled', 2],
  ['error', 20],
  ['overloaded', 10],
  ['reset', 10],
  ['broken', 20],
  ['uncounted', 20],
];

function chooseMood(): Mood {
  let left = Math.random() * 1_000;
  for (const [mood, share] of MOODS) {
    left -= share;
    if (left < 0) return mood;
  }
  return 'well';
}

const upTo = (max: number) => 1 + Math.floor(Math.random() * max);

async function stream(response: ServerResponse, kind: UpstreamKind, mood: Mood): Promise<void> {
  const { begin, say, end } = streamParts(kind);
  const words = upTo(WORDS_MAX);
  const brokenAt = mood === 'broken' ? upTo(words) : undefined;
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(begin);
  for (let word = 0; word < words && !response.destroyed; word++) {
    if (word === brokenAt) {
      response.destroy();
      return;
    }
    response.write(say(`word ${word} `));
    await sleep(Math.random() * EVENT_PAUSE_MAX_MS);
  }
  response.end(end(mood === 'uncounted' ? undefined : { input: 12, output: 3 * words }));
}

async function answer(response: ServerResponse, kind: UpstreamKind, body: string): Promise<void> {
  const mood = chooseMood();
  if (mood === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  if (mood === 'slow') await sleep(Math.random() * SLOW_MAX_MS);
  if (mood === 'stalled') await sleep(STALL_MS);
  const json = { 'content-type': 'application/json' };
  if (mood === 'error') {
    response.writeHead(500, json).end(errorBody(kind, 'out of order'));
  } else if (mood === 'overloaded') {
    response.writeHead(429, { ...json, 'retry-after': '1' }).end(errorBody(kind, 'slow down'));
  } else if (/"stream":true/.test(body)) {
    await stream(response, kind, mood);
  } else {
    const words = upTo(WORDS_MAX);
    const usage = mood === 'uncounted' ? undefined : { input: 12, output: words };
    response.writeHead(200, json).end(wholeBody(kind, 'word '.repeat(words), usage));
  }
}

const server = createServer((request, response) => {
  response.on('error', () => {});
  if (request.method === 'GET') {
    response.end('{"data":[]}');
    return;
  }
  const [, kind] = (request.url ?? '').split('/') as [string, UpstreamKind];
  text(request)
    .then((body) => answer(response, kind, body))
    .catch(() => response.destroy());
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.once('disconnect', () => process.exit());
