import { expect, it } from 'vitest';
import { createWorkRests } from '../../../../src/books/ingest/work-rests.ts';

it('rests after some work, as long as rests are allowed', async () => {
  let nowMs = 0;
  const rests = createWorkRests(() => nowMs);
  const work = (ms: number) => {
    nowMs += ms;
    return rests.take();
  };
  expect(work(100), 'none is allowed at first').toBeUndefined();
  rests.allow(12);
  expect(work(1)).toBeUndefined();
  await expect(work(1)).resolves.toBeUndefined();
  expect(work(1), 'work counts from the end of a rest').toBeUndefined();
  await expect(work(1)).resolves.toBeUndefined();
  expect(work(100), 'another one would be too long for what is left').toBeUndefined();
  rests.allow(5);
  expect(work(1)).toBeUndefined();
  await expect(work(1)).resolves.toBeUndefined();
  rests.allow(0);
  expect(work(100)).toBeUndefined();
});
