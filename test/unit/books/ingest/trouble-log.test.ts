import { expect, it } from 'vitest';
import { createTroubleLog } from '../../../../src/books/ingest/trouble-log.ts';
import { createMemoryLog } from '../../../support/memory-log.ts';

const AWAY = "Stream isn't writeable and enableOfflineQueue options is false";

it.each([
  [AWAY, 'Redis is out, so the books get no entries', {}],
  ['NOPERM no', 'Redis cannot be read into the books', { reason: 'NOPERM no' }],
  ['ERR no', 'Redis cannot be read into the books', { err: new Error('ERR no') }],
])('%s is told once, and only a fault with its stack', (text, message, fields) => {
  const log = createMemoryLog();
  const trouble = createTroubleLog(log);
  for (let round = 0; round < 4; round++) trouble.noteRedis(new Error(text));
  expect(log.lines).toEqual([{ level: 'warn', message, fields }]);
  expect(trouble.current()).toBe(message);
});
