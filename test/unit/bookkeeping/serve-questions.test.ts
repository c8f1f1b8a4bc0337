import { getEventListeners } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { serveQuestions } from '../../../src/bookkeeping/serve-questions.ts';
import { createThreadLine } from '../../../src/bookkeeping/thread-line.ts';

const PARTS = 200;

it('keeps nothing of the parts of an answer that were taken', async () => {
  const { port1, port2 } = new MessageChannel();
  let listenersMax = 0;
  serveQuestions(port2, {
    count: async function* (_query: never, signal: AbortSignal) {
      for (let part = 0; part < PARTS; part++) {
        yield `${part}\n`;
        listenersMax = Math.max(listenersMax, getEventListeners(signal, 'abort').length);
      }
    },
  });
  const line = createThreadLine((message) => port1.postMessage(message));
  port1.on('message', line.take);
  let taken = 0;
  for await (const text of line.stream('count', {})) expect(text).toBe(`${taken++}\n`);
  port1.close();
  expect(taken).toBe(PARTS);
  expect(listenersMax).toBe(1);
});
