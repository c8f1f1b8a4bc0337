import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { STREAM_PAGE_MAX } from '../../src/ledger/read-stream.ts';
import { listSegments, readSegmentHeader } from '../../src/ledger/segment-files.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { makeTempFolder } from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { createAccount, fillBuckets, pay, placesOf, readSegments } from './ledger-scene.ts';
import { useLedgerServer, waitUntilExported } from './use-ledger-server.ts';

const BUCKETS = [0, 17, 255];

const store = useLedgerServer(BUCKETS);

describe('the exporter of the ledger', () => {
  it('writes every entry of every bucket once, with cursors that continue one another', async () => {
    const dir = join(makeTempFolder(), 'ledger');
    store.startExporter({ dir });
    const places = await fillBuckets(store.connection, BUCKETS);
    await waitUntilExported(dir, places);
    expect(await readSegments(dir)).toHaveLength(places.size);
    const reached = new Map<string, string>();
    for (const [i, { path, sequence }] of (await listSegments(dir)).entries()) {
      const header = await readSegmentHeader(path);
      expect(header).toMatchObject({ segment: 1, sequence, node: 'a' });
      expect(sequence).toBe(i + 1);
      for (const [bucket, id] of Object.entries(header.before)) {
        expect(id).toBe(reached.get(bucket) ?? '0-0');
      }
      for (const [bucket, id] of Object.entries(header.after)) reached.set(bucket, id);
    }
  });

  it('reads more than a page in a round, and ends a segment at its bound', async () => {
    const dir = makeTempFolder();
    const account = await createAccount(store.connection, 1);
    await Promise.all(
      Array.from({ length: 1_200 }, (_, i) =>
        pay(store.connection, account, { paymentId: `p${i}`, micros: 1 }),
      ),
    );
    store.startExporter({
      dir,
      pace: { segmentEntriesMax: 600, gatherMs: 3_600_000, roundMs: 3_600_000 },
    });
    await waitUntil(async () => (await listSegments(dir)).length === 1, 'a segment is full');
    const entries = await Promise.all(
      (await listSegments(dir)).map(async ({ path }) => (await readSegmentHeader(path)).entries),
    );
    expect(entries).toEqual([5 * STREAM_PAGE_MAX]);
  });

  it('leaves young entries alone', async () => {
    const dir = makeTempFolder();
    let aheadMs = 2 * 3_600_000;
    const nowMs = () => Date.now() + aheadMs;
    const { waitForRounds } = store.startExporter({ dir, nowMs, pace: { entryAgeMs: 3_600_000 } });
    const old = await fillBuckets(store.connection, BUCKETS);
    await waitUntilExported(dir, old);
    aheadMs = 0;
    const all = await fillBuckets(store.connection, BUCKETS);
    await waitForRounds(2);
    expect(placesOf(await readSegments(dir))).toEqual(old);
    aheadMs = 2 * 3_600_000;
    await waitUntilExported(dir, all);
  });

  it('writes no file while there is nothing, and gathers what comes slowly', async () => {
    const dir = makeTempFolder();
    let nowMs = Date.now() + 3_600_000;
    const { waitForRounds } = store.startExporter({
      dir,
      nowMs: () => nowMs,
      pace: { gatherMs: 30_000, entryAgeMs: 0 },
    });
    await waitForRounds(2);
    const places = await fillBuckets(store.connection, BUCKETS);
    await waitForRounds(2);
    expect(readdirSync(dir)).toEqual([]);
    nowMs += 30_000;
    await waitUntilExported(dir, places);
    await waitForRounds(2);
    expect(readdirSync(dir)).toHaveLength(1);
  });

  it('ignores and removes what a killed process had not finished', async () => {
    const dir = makeTempFolder();
    const torn = 'ledger-000000000999.ndjson.tmp';
    writeFileSync(join(dir, torn), '{"segment":1,"sequence":1,"after":{"17":"9999999999999-0"');
    store.startExporter({ dir });
    const places = await fillBuckets(store.connection, BUCKETS);
    await waitUntilExported(dir, places);
    expect(await readSegments(dir)).toHaveLength(places.size);
    expect(readdirSync(dir)).not.toContain(torn);
  });

  it('goes on after its newest segment, and reads the last two minutes before it again', async () => {
    const dir = makeTempFolder();
    const first = store.startExporter({ dir });
    const before = await fillBuckets(store.connection, BUCKETS);
    await waitUntilExported(dir, before);
    await first.exporter.stop();
    const all = await fillBuckets(store.connection, BUCKETS);
    store.startExporter({ dir });
    await waitUntilExported(dir, all);
    expect(placesOf(await readSegments(dir))).toEqual(all);
    expect(await readSegments(dir)).toHaveLength(all.size + before.size);
  });

  it('goes on from an older segment when the newest is damaged, and keeps its number', async () => {
    const dir = makeTempFolder();
    const first = store.startExporter({ dir });
    await waitUntilExported(dir, await fillBuckets(store.connection, BUCKETS));
    await first.exporter.stop();
    const newest = (await listSegments(dir)).at(-1);
    writeFileSync(newest?.path ?? '', 'not a header\n');
    const { log } = store.startExporter({ dir });
    await waitUntil(
      async () => (await listSegments(dir)).length > (newest?.sequence ?? 0),
      'a segment follows',
    );
    const next = (await listSegments(dir)).at(-1);
    expect(next?.sequence).toBe((newest?.sequence ?? 0) + 1);
    expect(log.lines.map(({ message }) => message)).toContain(
      'a segment of the ledger cannot be read',
    );
  });

  it('puts what it cannot decode into the segment as it is, and says so', async () => {
    const dir = makeTempFolder();
    const { ledger } = keysOfBucket(9);
    await store.connection.send('xadd', [ledger, '*', 'kind', 'of a later version']);
    const { log } = store.startExporter({ dir });
    await waitUntil(async () => (await listSegments(dir)).length > 0, 'there is a segment');
    expect(log.lines[0]).toMatchObject({ level: 'error', fields: { bucket: 9, damaged: 1 } });
  });
});
