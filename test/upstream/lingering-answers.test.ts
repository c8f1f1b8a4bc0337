import { expect, it } from 'vitest';
import { createHttpUpstream } from '../../src/upstream/create-http-upstream.ts';
import { chunkOf, STREAM_HEAD, streamParts, USAGE } from '../support/upstreams/upstream-answers.ts';
import { ask, createCall } from '../unit/upstream/simulated-support.ts';
import { startRawServer } from './http1/start-raw-server.ts';

const CALLS = 8;

it('never keep an upstream from being asked, though their bodies do not end', async () => {
  const { begin, say, end } = streamParts('chat');
  const told = STREAM_HEAD + chunkOf(begin + say('Hello!') + end(USAGE));
  const server = await startRawServer({ onRequest: (peer) => void peer.send(told) });
  const infer = createHttpUpstream({
    name: 'endless',
    kind: 'chat',
    url: `http://127.0.0.1:${server.port}`,
    apiKey: undefined,
    headers: {},
    tls: {},
    modelNames: {},
    unknownFields: 'pass',
    outputLimitFields: {},
    accepts: {},
    sampling: {},
    concurrencyMax: 1,
    timeouts: { connectMs: 20_000, firstByteMs: 20_000, idleMs: 20_000, totalMs: 20_000 },
    clock: { nowMs: () => 1e12 },
  });
  let answers = 0;
  for (let n = 0; n < CALLS; n += 1) {
    const { signal } = new AbortController();
    for await (const part of infer(createCall(ask('Hello'), { signal }))) {
      if (part.isLast) answers += 1;
    }
  }
  expect(answers).toBe(CALLS);
});
