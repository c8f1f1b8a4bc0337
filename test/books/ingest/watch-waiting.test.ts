import { afterEach, expect, onTestFinished, test } from 'vitest';
import { type WaitingWatch, watchWaiting } from '../../../src/books/ingest/watch-waiting.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { COUNT_KEYS } from '../../../src/redis/redis-keys.ts';
import { createMemoryLog } from '../../support/memory-log.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { useIngestServer } from './ingest-scene.ts';

const BUCKETS = 256;
const EVERY_MS = 20;
const store = useIngestServer();
const watches: WaitingWatch[] = [];

afterEach(() => {
  for (const watch of watches.splice(0)) watch.stop();
});

/** A node that knows what waits. `calls` has the names of its commands. */
function watch(nodeId: string, everyMs = EVERY_MS, keptMs = 60_000) {
  const calls: string[] = [];
  const log = createMemoryLog();
  const watching = watchWaiting({
    connection: {
      send(command, args) {
        calls.push(command);
        return store.connection.send(command, args);
      },
    },
    ...{ nodeId, everyMs, keptMs, log },
  });
  watches.push(watching);
  return { watching, log, counts: () => calls.filter((name) => name === 'xlen').length };
}

const enter = (bucket: number) =>
  store.connection.send('xadd', [keysOfBucket(bucket).ledger, '*', 'kind', 'any']);

test('one of several nodes counts the entries of all streams, and the others know it too', async () => {
  for (const bucket of [0, 0, 17, 255]) await enter(bucket);
  const first = watch('a', 60_000);
  await waitUntil(() => first.watching.waitingEntries() === 4, 'the first node has counted');
  const second = watch('b', 60_000);
  await waitUntil(() => second.watching.waitingEntries() === 4, 'the second one has read it');
  expect(first.counts()).toBe(BUCKETS);
  expect(second.counts()).toBe(0);
});

test('another node counts when the one that did is gone', async () => {
  const first = watch('a');
  await waitUntil(() => first.watching.waitingEntries() === 0, 'it has counted');
  const second = watch('b');
  first.watching.stop();
  await enter(9);
  await waitUntil(() => second.watching.waitingEntries() === 1, 'the other one counts');
});

test('a turn that began before the clock was set back does not hold up the count', async () => {
  await store.connection.send('set', [COUNT_KEYS.counter, 'gone', 'px', 10_800_000]);
  await enter(9);
  const { watching } = watch('a');
  await waitUntil(() => watching.waitingEntries() === 1, 'it has counted');
});

test('the last count stays for a time while a stream cannot be counted', async () => {
  await enter(9);
  const { watching, counts } = watch('a');
  await waitUntil(() => watching.waitingEntries() === 1, 'it has counted');
  await store.connection.send('set', [keysOfBucket(3).ledger, 'no stream']);
  const before = counts();
  await waitUntil(() => counts() > before + BUCKETS, 'it has counted again');
  expect(watching.waitingEntries()).toBe(1);
});

test('nothing is known when no node could count for long, which each log tells once', async () => {
  await enter(9);
  const nodes = [watch('a', EVERY_MS, 2_000), watch('b', EVERY_MS, 2_000)];
  const waitForAll = (entries: number | undefined) =>
    waitUntil(
      () => nodes.every(({ watching }) => watching.waitingEntries() === entries),
      `both know of ${entries} entries`,
    );
  await waitForAll(1);
  const stream = keysOfBucket(3).ledger;
  await store.connection.send('set', [stream, 'no stream']);
  await waitForAll(undefined);
  const waitForLast = (level: string) =>
    waitUntil(
      () => nodes.every(({ log }) => log.lines.at(-1)?.level === level),
      `the last line of both logs is of level ${level}`,
    );
  await waitForLast('error');
  const reasons = nodes.flatMap(({ log }) => log.lines.map(({ fields }) => fields['err']));
  expect(reasons).toContainEqual(expect.any(Error));
  await store.connection.send('del', [stream]);
  await waitForAll(1);
  await waitForLast('info');
  for (const { log } of nodes) {
    // On a busy machine the count may get too old more than once.
    const levels = log.lines.map((_, index) => (index % 2 === 0 ? 'error' : 'info'));
    expect(log.lines.map(({ level }) => level)).toEqual(levels);
  }
});

test('nothing is known either when Redis refuses to share a count for long', async () => {
  await enter(9);
  const { watching, log } = watch('a', EVERY_MS, 1_000);
  await waitUntil(() => watching.waitingEntries() === 1, 'it has counted');
  const spoil = `redis.call('DEL', KEYS[1]) redis.call('HSET', KEYS[1], 'no', 'number')`;
  await store.connection.send('eval', [spoil, 1, COUNT_KEYS.waiting]);
  await waitUntil(() => watching.waitingEntries() === undefined, 'the count is too old');
  await waitUntil(() => log.lines.at(-1)?.level === 'error', 'the log tells it');
});

test('the count goes on while Redis has no memory left', async () => {
  await enter(9);
  await store.server.cli('config', 'set', 'maxmemory', '1');
  onTestFinished(async () => {
    await store.server.cli('config', 'set', 'maxmemory', '0');
  });
  const { watching } = watch('a');
  await waitUntil(() => watching.waitingEntries() === 1, 'it has counted');
  expect(await store.connection.send('get', [COUNT_KEYS.waiting])).toBe('1');
});
