import { describe, expect, it } from 'vitest';
import { chunkOf, STREAM_HEAD, streamParts, USAGE } from '../support/upstreams/upstream-answers.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ask, createCall } from '../unit/upstream/simulated-support.ts';
import { createUpstream } from './create-upstream.ts';
import { startRawServer } from './http1/start-raw-server.ts';

const CALLS = 8;

describe('answers whose bodies do not end', () => {
  it('never keep an upstream from being asked', async () => {
    const { begin, say, end } = streamParts('chat');
    const told = STREAM_HEAD + chunkOf(begin + say('Hello!') + end(USAGE));
    const server = await startRawServer({ onRequest: (peer) => void peer.send(told) });
    const infer = createUpstream(server.port);
    let answers = 0;
    for (let n = 0; n < CALLS; n += 1) {
      const { signal } = new AbortController();
      for await (const part of infer(createCall(ask('Hello'), { signal }))) {
        if (part.isLast) answers += 1;
      }
    }
    expect(answers).toBe(CALLS);
  });

  it('make room one after the other, also behind an error that was too long', async () => {
    const { begin, say, end } = streamParts('chat');
    const told = STREAM_HEAD + chunkOf(begin + say('Hello!') + end(USAGE));
    const text = 'x'.repeat(100_000);
    const error = `HTTP/1.1 400 No\r\ncontent-length: ${text.length + 1}\r\n\r\n${text}`;
    const server = await startRawServer({
      onRequest(peer) {
        peer.socket.write(peer.received().includes('a long error') ? error : told);
      },
    });
    const infer = createUpstream(server.port);
    const call = (words: string) =>
      createCall(ask(words), { signal: new AbortController().signal });
    await expect(infer(call('a long error')).next()).rejects.toThrow();
    for (let n = 0; n < CALLS; n += 1) {
      for await (const part of infer(call('Hello'))) if (part.isLast) break;
    }
    expect(server.peers).toHaveLength(CALLS + 1);
  });

  it('are known by their status if they are errors', async () => {
    const head = 'HTTP/1.1 429 No\r\ncontent-length: 100\r\nretry-after: 7\r\n\r\n';
    const server = await startRawServer({
      onRequest: (peer) => void peer.send(`${head}{"error":`),
    });
    const { signal } = new AbortController();
    const answer = createUpstream(server.port)(createCall(ask('Hello'), { signal }));
    await expect(answer.next()).rejects.toMatchObject({
      refusal: 'upstream_overloaded',
      headers: { 'retry-after': '7' },
      reason: 'status 429',
    });
    await waitUntil(() => server.peers[0]?.isClosed() === true, 'the upstream is hung up on');
  });
});

it.each([
  [400, 'content-length: 500', 'invalid_request'],
  [401, 'content-length: 500', 'upstream_denied'],
  [413, 'content-length: 500', 'body_too_large'],
  [429, 'transfer-encoding: chunked', 'upstream_overloaded'],
])('an error %i whose body is cut off is known by its status', async (status, length, refusal) => {
  const head = `HTTP/1.1 ${status} No\r\n${length}\r\nretry-after: 7\r\n\r\n`;
  const server = await startRawServer({
    onRequest: async (peer) => {
      await peer.send(`${head}9\r\n{"error":\r\n`);
      peer.socket.end();
    },
  });
  const { signal } = new AbortController();
  const answer = createUpstream(server.port)(createCall(ask('Hello'), { signal }));
  const headers = status === 429 ? { 'retry-after': '7' } : {};
  await expect(answer.next()).rejects.toMatchObject({
    ...{ refusal, headers },
    reason: `status ${status}`,
  });
});

it('an answer that is compressed is refused by its name, for nobody asked for that', async () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\n';
  const server = await startRawServer({ onRequest: (peer) => void peer.send(`${head}\x1f\x8b..`) });
  const { signal } = new AbortController();
  const answer = createUpstream(server.port)(createCall(ask('Hello'), { signal }));
  await expect(answer.next()).rejects.toThrow("The upstream's answer is broken: it is compressed.");
  expect(server.peers[0]?.received()).toContain('accept-encoding: identity\r\n');
});
