import { mkdirSync, renameSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openJournalFeed } from '../../src/quota/journal/journal-feed.ts';
import { encodeJournalRecord } from '../../src/quota/journal/journal-record.ts';
import type { JournalSegment } from '../../src/quota/journal/journal-segment.ts';
import type { Settlement } from '../../src/quota/settlement/settlement.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import { waitUntil } from '../support/wait-until.ts';
import { filesIn } from './journal-scene.ts';
import { idsOf, makePayer, makeSettlement, makeSettlements } from './settle-scene.ts';

const RECORD_BYTES = encodeJournalRecord(makeSettlement(makePayer(7))).length;
const SEGMENT_BYTES_MAX = 12 * RECORD_BYTES;

async function openFeed({ bytesMax = 1_000 * RECORD_BYTES, dir = createTempDir() } = {}) {
  const loaded: { settlement: Settlement; segment: JournalSegment }[] = [];
  const state = { othersLoaded: 0 };
  const feed = await openJournalFeed({
    dir,
    segmentBytesMax: SEGMENT_BYTES_MAX,
    bytesMax,
    loadedCount: () => state.othersLoaded,
    onLoaded: (settlement, segment) => loaded.push({ settlement, segment }),
    log: createMemoryLog(),
  });
  const loadedIds = () => idsOf(loaded.map(({ settlement }) => settlement));
  const endAll = () => {
    for (const { segment } of loaded.splice(0)) feed.noteEnd(segment);
  };
  return { dir, feed, loaded, loadedIds, state, endAll };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('the files of the journal', () => {
  it('begin anew before they grow too large, and go one by one', async () => {
    const { dir, feed, loaded, endAll } = await openFeed();
    for (let i = 0; i < 10; i++) await feed.append(makeSettlements(5));
    const files = filesIn(dir);
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) {
      expect(statSync(`${dir}/${file}`).size).toBeLessThanOrEqual(SEGMENT_BYTES_MAX);
    }
    const [oldest] = loaded.map(({ segment }) => segment);
    for (const { segment } of loaded.filter((one) => one.segment === oldest)) feed.noteEnd(segment);
    await waitUntil(() => filesIn(dir).length < files.length, 'a file goes');
    expect(filesIn(dir)).toEqual(files.slice(1));
    loaded.splice(0, loaded.length, ...loaded.filter((one) => one.segment !== oldest));
    endAll();
    await waitUntil(() => filesIn(dir).length === 0, 'all are gone');
    await feed.close();
  });

  it('take no more than they may hold, and more when there is room again', async () => {
    const { dir, feed, endAll } = await openFeed({ bytesMax: 10 * RECORD_BYTES });
    await feed.append(makeSettlements(5));
    await expect(feed.append(makeSettlements(6))).rejects.toThrow('full');
    expect(feed.depth).toBe(5);
    endAll();
    const more = makeSettlements(6);
    const isTaken = () =>
      feed.append(more).then(
        () => true,
        () => false,
      );
    await waitUntil(isTaken, 'there is room again');
    expect(feed.depth).toBe(6);
    expect(filesIn(dir)).toHaveLength(1);
    await feed.close();
  });

  it('stay when more was appended just before the last of them ended', async () => {
    const { dir, feed, loadedIds, endAll } = await openFeed();
    await feed.append(makeSettlements(2));
    const more = makeSettlements(2);
    const appended = feed.append(more);
    endAll();
    await appended;
    await feed.close();
    expect(loadedIds()).toEqual(idsOf(more));
    const next = await openFeed({ dir });
    await waitUntil(() => next.loaded.length > 0, 'the next one reads the file');
    expect(next.loadedIds()).toEqual(expect.arrayContaining(idsOf(more)));
    await next.feed.close();
  });

  it('count what is waiting to be written against what they may hold', async () => {
    const { feed } = await openFeed({ bytesMax: 10 * RECORD_BYTES });
    const outcomes = await Promise.allSettled([
      feed.append(makeSettlements(7)),
      feed.append(makeSettlements(7)),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    await feed.close();
  });

  it('have what was appended at once in the order in which it came', async () => {
    const { feed, loadedIds } = await openFeed();
    const batches = Array.from({ length: 50 }, () => makeSettlements(2));
    await Promise.all(batches.map((batch) => feed.append(batch)));
    expect(loadedIds()).toEqual(batches.flatMap(idsOf));
    await feed.close();
  });

  it('keep on the disk alone what would be too much in memory, until its turn comes', async () => {
    const { dir, feed, loaded, loadedIds, state, endAll } = await openFeed();
    const early = makeSettlements(3);
    await feed.append(early);
    state.othersLoaded = 50_000;
    const late = [...makeSettlements(5), ...makeSettlements(6)];
    await feed.append(late.slice(0, 5));
    await feed.append(late.slice(5));
    expect(loadedIds()).toEqual(idsOf(early));
    expect(feed.depth).toBe(14);

    state.othersLoaded = 0;
    endAll();
    await waitUntil(() => loaded.length >= late.length, 'the others are loaded');
    const more = makeSettlements(1);
    await feed.append(more);
    expect(loadedIds()).toEqual(idsOf([...late, ...more]));
    endAll();
    await feed.waitUntilEmpty();
    await waitUntil(() => filesIn(dir).length === 0, 'all files are gone');
    await feed.close();
  });

  it('are read again after a while if they could not be read', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { dir, feed, loaded, loadedIds, state, endAll } = await openFeed();
    state.othersLoaded = 50_000;
    const late = makeSettlements(5);
    await feed.append(late);
    const [file = ''] = filesIn(dir);
    renameSync(join(dir, file), join(dir, 'aside'));
    mkdirSync(join(dir, file));

    state.othersLoaded = 0;
    for (let i = 0; i < 3; i++) await feed.append(makeSettlements(5));
    await waitUntil(() => vi.getTimerCount() > 0, 'the file cannot be read');
    rmdirSync(join(dir, file));
    renameSync(join(dir, 'aside'), join(dir, file));
    const before = loaded.length;
    vi.runOnlyPendingTimers();
    await waitUntil(() => loaded.length >= before + late.length, 'the file is read');
    expect(loadedIds()).toEqual(expect.arrayContaining(idsOf(late)));
    endAll();
    await feed.waitUntilEmpty();
    await feed.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
