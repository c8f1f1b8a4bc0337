import { describe, expect, it } from 'vitest';
import { gatherBuckets } from '../../src/ledger/gather-buckets.ts';
import { STREAM_PAGE_MAX } from '../../src/ledger/read-stream.ts';

/**
 * Turns of the event loop: far more than a round without rests takes, and far fewer than a round
 * with rests takes.
 */
const TURNS = 300;
const round = { from: 0, restMaxMs: 0, isOver: () => false };

/**
 * Fills each bucket with this many entries. Counts the pages read, and the most that were read at
 * once.
 */
function fill(entriesOf: (bucket: number) => number) {
  const left = Array.from({ length: 256 }, (_, bucket) => entriesOf(bucket));
  const asked: number[] = [];
  const atOnce: number[] = [];
  let reading = 0;
  const readPage = async (bucket: number) => {
    asked.push(bucket);
    reading++;
    atOnce.push(reading);
    await new Promise(setImmediate);
    reading--;
    const entries = Math.min(STREAM_PAGE_MAX, left[bucket] ?? 0);
    left[bucket] = (left[bucket] ?? 0) - entries;
    return { entries, isLast: entries < STREAM_PAGE_MAX };
  };
  return { left, asked, atOnce, readPage };
}

describe('a round of the exporter', () => {
  it('asks each bucket once where there is nothing, some at a time', async () => {
    const { asked, atOnce, readPage } = fill(() => 0);
    const end = await gatherBuckets({ ...round, from: 250 }, readPage);
    expect(end).toEqual({ next: 250, isComplete: true, failure: undefined });
    expect(asked).toEqual(Array.from({ length: 256 }, (_, i) => (250 + i) % 256));
    expect(Math.max(...atOnce)).toBe(16);
  });

  it('asks again only those that had a full page, after the others', async () => {
    const { left, asked, readPage } = fill((bucket) => (bucket === 3 ? 2.5 * STREAM_PAGE_MAX : 1));
    const end = await gatherBuckets(round, readPage);
    expect(end.isComplete).toBe(true);
    expect(left.every((entries) => entries === 0)).toBe(true);
    expect(asked.slice(256)).toEqual([3, 3]);
  });

  it('reads one bucket at a time where each has much', async () => {
    const { left, atOnce, readPage } = fill(() => 100);
    await gatherBuckets(round, readPage);
    expect(left.every((entries) => entries === 0)).toBe(true);
    expect(Math.max(...atOnce)).toBe(4);
    expect(Math.max(...atOnce.slice(8))).toBe(1);
  });

  it('passes over a bucket that fails, and tells of the first failure', async () => {
    const { asked, readPage } = fill(() => 1);
    const end = await gatherBuckets(round, async (bucket) => {
      const page = await readPage(bucket);
      if (bucket === 17 || bucket === 90) throw new Error(`bucket ${bucket} is away`);
      return page;
    });
    expect(end).toMatchObject({ isComplete: true, failure: new Error('bucket 17 is away') });
    expect(asked).toHaveLength(256);
  });

  it('does without rests where there is little', async () => {
    const { asked, readPage } = fill((bucket) => (bucket < 60 ? 1 : 0));
    const gathering = gatherBuckets({ ...round, restMaxMs: 3_600_000 }, readPage);
    for (let turn = 0; turn < TURNS; turn++) await new Promise(setImmediate);
    expect(asked).toHaveLength(256);
    await gathering;
  });

  it('does without rests where they are used up', async () => {
    const { asked, readPage } = fill(() => 100);
    const gathering = gatherBuckets({ ...round, restMaxMs: 0 }, readPage);
    for (let turn = 0; turn < TURNS; turn++) await new Promise(setImmediate);
    expect(asked).toHaveLength(256);
    await gathering;
  });

  it('goes on with the first bucket that it did not come to', async () => {
    const { asked, readPage } = fill(() => 1);
    const isOver = () => asked.length >= 100;
    const end = await gatherBuckets({ ...round, isOver }, readPage);
    expect(end).toEqual({ next: asked.length, isComplete: false, failure: undefined });
    const rest = fill(() => 1);
    await gatherBuckets({ ...round, from: end.next }, rest.readPage);
    expect(rest.asked[0]).toBe(asked.length);
  });

  it('rests in between, until it is to end', async () => {
    const { asked, readPage } = fill(() => 100);
    let isOver = false;
    const gathering = gatherBuckets(
      { ...round, restMaxMs: 3_600_000, isOver: () => isOver },
      readPage,
    );
    // Without rests the round would have visited all buckets by now.
    for (let turn = 0; turn < TURNS; turn++) await new Promise(setImmediate);
    const atRest = asked.length;
    isOver = true;
    expect(await gathering).toMatchObject({ isComplete: false, next: atRest });
    expect(atRest).toBeLessThan(256);
  });
});
