import { describe, expect, it } from 'vitest';
import { readWithClient, readWithUndici, type Script } from './read-answers.ts';

const ANSWERS: Readonly<Record<string, string>> = {
  'with a length': 'HTTP/1.1 200 OK\r\nx-a: b\r\ncontent-length: 5\r\n\r\nhello',
  'in chunks':
    'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n' +
    '2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nx-a: b\r\n\r\n',
};
const UNTIL_CLOSE = 'HTTP/1.1 200 OK\r\nx-a: b\r\n\r\nhello';

const everyCut = (answer: string) => Array.from(answer, (_, at) => at);
const headLength = (answer: string) =>
  answer.lastIndexOf('HTTP/1.1') +
  answer.slice(answer.lastIndexOf('HTTP/1.1')).indexOf('\r\n\r\n') +
  4;

async function expectReading(script: Script, reading: string): Promise<void> {
  const where = JSON.stringify(script.pieces);
  expect(await readWithClient(script), where).toBe(reading);
  const general = reading.replace(/(closed_early|truncated)$/, 'fails');
  expect(await readWithUndici(script), where).toBe(general);
}

describe('an answer', () => {
  for (const [how, answer] of Object.entries(ANSWERS)) {
    it(`${how} is the same wherever it is split in two`, async () => {
      for (const at of everyCut(answer)) {
        const pieces = [answer.slice(0, at), answer.slice(at)];
        await expectReading({ pieces }, '200 "hello" kept');
      }
    });

    it(`${how} is the same byte by byte`, async () => {
      await expectReading({ pieces: [...answer] }, '200 "hello" kept');
    });

    it(`${how} is never complete when it ends before its last byte`, async () => {
      for (const at of everyCut(answer)) {
        const before = at === 0 ? 'closed_early' : 'truncated';
        const reading = at < headLength(answer) ? before : '200 truncated';
        await expectReading({ pieces: [answer.slice(0, at)], after: 'close' }, reading);
      }
    });
  }

  it('without a length is complete wherever its body ends, in order', async () => {
    for (const at of everyCut(UNTIL_CLOSE).slice(headLength(UNTIL_CLOSE))) {
      const body = UNTIL_CLOSE.slice(headLength(UNTIL_CLOSE), at);
      const script: Script = { pieces: [UNTIL_CLOSE.slice(0, at)], after: 'close' };
      await expectReading(script, `200 ${JSON.stringify(body)} closed`);
    }
  });
});
