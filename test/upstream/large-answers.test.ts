import { expect, it } from 'vitest';
import { createAnswerMemory } from '../../src/upstream/answer-memory.ts';
import { USAGE, wholeBody } from '../support/upstreams/upstream-answers.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ask, createCall } from '../unit/upstream/simulated-support.ts';
import { createUpstream } from './create-upstream.ts';
import { startRawServer } from './http1/start-raw-server.ts';

const ANSWER_BYTES = 1024 ** 2;
const WAIT_BYTES = 1.5 * ANSWER_BYTES;
/** More than arrives in one read. */
const READ_BYTES_MAX = 128 * 1024;
const CALLS = 8;
const STALLED = 6;

const BODY = wholeBody('chat', 'x'.repeat(ANSWER_BYTES), USAGE);
const ANSWER = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;

/** The answers to requests that say `half` stop in their middle. */
async function startUpstream(heldBytesMax = 1e9) {
  const server = await startRawServer({
    onRequest(peer) {
      const isHalf = peer.received().includes('half');
      peer.socket.write(isHalf ? ANSWER.slice(0, ANSWER.length / 2) : ANSWER);
    },
  });
  const memory = createAnswerMemory({ waitBytes: WAIT_BYTES, heldBytesMax });
  const infer = createUpstream(server.port, { concurrencyMax: CALLS, memory });
  const read = async (accountId: string, text: string, signal = new AbortController().signal) => {
    let textBytes = 0;
    for await (const part of infer(createCall(ask(text), { accountId, signal }))) {
      textBytes += JSON.stringify(part.events).length;
    }
    return textBytes;
  };
  return { server, memory, read };
}

it('large answers of one account all come, though there is not memory for all at once', async () => {
  const { memory, read } = await startUpstream();
  const answers = await Promise.all(Array.from({ length: CALLS }, () => read('a', 'whole')));
  for (const bytes of answers) expect(bytes).toBeGreaterThanOrEqual(ANSWER_BYTES);
  expect(memory.heldBytes).toBe(0);
});

it('an account with large answers that stall keeps out none of another account', async () => {
  const { server, memory, read } = await startUpstream();
  const left = new AbortController();
  const stalled = Array.from({ length: STALLED }, () =>
    read('a', 'half', left.signal).catch(String),
  );
  await waitUntil(() => memory.heldBytes > WAIT_BYTES, 'the memory is full');
  const waiting = read('a', 'whole');
  await server.waitForRequests(STALLED + 1);
  expect(await read('b', 'whole')).toBeGreaterThanOrEqual(ANSWER_BYTES);
  // All of them together have twice as much to say.
  expect(memory.heldBytes).toBeLessThan(WAIT_BYTES + STALLED * READ_BYTES_MAX);
  left.abort(new Error('left'));
  expect(await Promise.all(stalled)).toEqual(Array(STALLED).fill('Error: left'));
  expect(await waiting).toBeGreaterThanOrEqual(ANSWER_BYTES);
  expect(memory.heldBytes).toBe(0);
});

it('an answer for which there is no room at all is no failure of its upstream', async () => {
  const { memory, read } = await startUpstream(ANSWER_BYTES / 2);
  await expect(read('a', 'whole')).rejects.toMatchObject({
    refusal: 'out_of_memory_budget',
    kind: 'refused',
    isFinal: true,
    headers: { 'retry-after': '1' },
  });
  expect(memory.heldBytes).toBe(0);
});
