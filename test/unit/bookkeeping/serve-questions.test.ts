import { getEventListeners, setMaxListeners } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import type { BoundQuestions } from '../../../src/bookkeeping/answers.ts';
import { serveQuestions } from '../../../src/bookkeeping/serve-questions.ts';
import { createThreadLine, QUESTIONS_MAX } from '../../../src/bookkeeping/thread-line.ts';
import { waitUntil } from '../../support/wait-until.ts';

const PARTS = 200;

function openLine(answers: BoundQuestions) {
  const { port1, port2 } = new MessageChannel();
  serveQuestions(port2, answers);
  const line = createThreadLine((message) => port1.postMessage(message));
  port1.on('message', line.take);
  onTestFinished(() => port1.close());
  return line;
}

it('keeps nothing of the parts of an answer that were taken', async () => {
  let listenersMax = 0;
  const line = openLine({
    count: async function* (_query: never, signal: AbortSignal) {
      for (let part = 0; part < PARTS; part++) {
        yield `${part}\n`;
        listenersMax = Math.max(listenersMax, getEventListeners(signal, 'abort').length);
      }
    },
  });
  let taken = 0;
  for await (const text of line.stream('count', {})) expect(text).toBe(`${taken++}\n`);
  expect(taken).toBe(PARTS);
  expect(listenersMax).toBe(1);
});

it('counts a question that nobody waits for until its work has ended', async () => {
  const endWork: (() => void)[] = [];
  const line = openLine({
    work: () => new Promise<string>((resolve) => endWork.push(() => resolve('done'))),
    parts: async function* (_query: never, signal: AbortSignal) {
      while (!signal.aborted) yield 'a part\n';
    },
    now: async () => 'at once',
  });
  const leaving = new AbortController();
  setMaxListeners(QUESTIONS_MAX, leaving.signal);
  const left = Array.from({ length: QUESTIONS_MAX - 1 }, () =>
    line.ask('work', {}, leaving.signal).catch(String),
  );
  const parts = line.stream('parts', {}, leaving.signal)[Symbol.asyncIterator]();
  expect((await parts.next()).value).toBe('a part\n');
  leaving.abort(new Error('the client has left'));
  expect(new Set(await Promise.all(left))).toEqual(new Set(['Error: the client has left']));
  await expect(parts.next()).rejects.toThrow('the client has left');
  await waitUntil(
    async () => (await line.ask('now', {}).catch(String)) === 'at once',
    'what came in parts has ended',
  );
  const last = line.ask('work', {});
  await expect(line.ask('now', {})).rejects.toThrow('too many questions');
  expect(line.isIdle()).toBe(false);
  await waitUntil(() => endWork.length === QUESTIONS_MAX, 'all are at work');
  for (const end of endWork) end();
  expect(await last).toBe('done');
  await waitUntil(() => line.isIdle(), 'all have ended');
  expect(await line.ask('now', {})).toBe('at once');
});
