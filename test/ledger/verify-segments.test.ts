import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createLedgerFindings } from '../../src/ledger/ledger-findings.ts';
import { planPasses, readLedger } from '../../src/ledger/read-ledger.ts';
import { listSegments } from '../../src/ledger/segment-files.ts';
import { verifyLedger } from '../../src/ledger/verify-ledger.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { sweep } from '../../src/quota/scripts/sweep.ts';
import { makeTempFolder } from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  ALL_BUCKETS,
  begin,
  createAccount,
  pay,
  serve,
  streamPlaces,
  type TestAccount,
} from './ledger-scene.ts';
import { useLedgerServer } from './use-ledger-server.ts';

const BUCKETS = [3, 200];
/** The options to verify while there is traffic. */
const ROUNDS = 4;

const store = useLedgerServer(BUCKETS);
let dir = '';
let accounts: TestAccount[] = [];

beforeEach(async () => {
  dir = makeTempFolder();
  accounts = [];
  for (const bucket of BUCKETS) accounts.push(await createAccount(store.connection, bucket));
  await Promise.all(
    accounts.flatMap((account) => [1, 2, 3].map(() => serve(store.connection, account))),
  );
});

const verify = (dirs = [dir]) => verifyLedger({ connection: store.connection, dirs });

function someAccount(): TestAccount {
  const [account] = accounts;
  if (account === undefined) throw new Error('there is an account');
  return account;
}

describe('verifying segments', () => {
  beforeEach(() => store.exportAll(dir));

  const newest = async () => (await listSegments(dir)).at(-1)?.path ?? '';

  it('finds a line that was damaged, and says where', async () => {
    const path = await newest();
    const lines = readFileSync(path, 'utf8').split('\n');
    lines[1] = (lines[1] ?? '').replace('"kind":"', '"kind":"un');
    writeFileSync(path, lines.join('\n'));
    const report = await verify();
    expect(report.damaged).toEqual([{ file: path, line: 2, reason: expect.any(String) }]);
    expect(report).toMatchObject({ is_clean: false, damaged_lines: 1 });
  });

  it('finds an amount that was changed', async () => {
    const path = await newest();
    const text = readFileSync(path, 'utf8');
    expect(text).toContain('"charged_micros":700');
    writeFileSync(path, text.replace('"charged_micros":700', '"charged_micros":701'));
    expect((await verify()).drifts).toHaveLength(2);
  });

  it('finds a line that was added, and one that was cut off', async () => {
    const path = await newest();
    const text = readFileSync(path, 'utf8');
    appendFileSync(path, `${text.trimEnd().split('\n').at(-1)}\n`);
    expect(await verify()).toMatchObject({ is_clean: false, damaged_lines: 1 });
    writeFileSync(path, text.trimEnd().split('\n').slice(0, -1).join('\n'));
    expect(await verify()).toMatchObject({ is_clean: false, damaged_lines: 1 });
  });

  it('finds a segment whose head is unreadable', async () => {
    const path = await newest();
    writeFileSync(path, `x${readFileSync(path, 'utf8')}`);
    const report = await verify();
    expect(report.damaged).toEqual([{ file: path, line: 1, reason: expect.any(String) }]);
    expect(report.gaps_found).toBeGreaterThan(0);
  });

  it('finds a segment that is missing, and what nobody has without it', async () => {
    const gone = (await listSegments(dir)).length;
    await serve(store.connection, someAccount());
    await store.exportAll(dir);
    rmSync(join(dir, `ledger-${String(gone).padStart(12, '0')}.ndjson`));
    const report = await verify();
    expect(report.gaps).toContainEqual({ dir, sequence_from: gone, sequence_to: gone });
    expect(report.is_clean).toBe(false);
  });

  it('finds what is neither in the folders that were named nor in Redis', async () => {
    const report = await verify([makeTempFolder()]);
    expect(report.gaps.map((gap) => 'bucket' in gap && gap.bucket)).toEqual(BUCKETS);
    expect(report.is_clean).toBe(false);
  });
});

describe('after a failover', () => {
  it('counts a request once that was exported, lost, and entered again', async () => {
    const account = someAccount();
    await store.exportAll(dir, { keepMs: 3_600_000 });
    const { ledger } = keysOfBucket(account.bucket);
    const { client } = store.connection;
    const reply = await client.callBuffer('xrevrange', ledger, '+', '-', 'COUNT', '1');
    const [[id, fields]] = reply as [[Buffer, Buffer[]]];
    await client.callBuffer('xdel', ledger, id);
    expect((await verify()).drifts).toEqual([]);
    await client.callBuffer('xadd', ledger, '*', ...fields);
    expect(await verify()).toMatchObject({ is_clean: true, repeated: 1, entries: 8 });
    // The next entries push the second one out of Redis, so that only one segment has it.
    await serve(store.connection, account);
    await store.exportAll(dir, { keepMs: 0 });
    expect(await verify()).toMatchObject({ is_clean: true, repeated: 1, entries: 9 });
  });
});

describe('while requests are served and exported', () => {
  it('is clean at every moment', async () => {
    store.startExporter({ dir, pace: { gatherMs: 100, keepMs: 0 } });
    let isOver = false;
    let served = 0;
    const traffic = async (account: TestAccount, lane: number) => {
      for (let i = 0; !isOver; i++) {
        await serve(store.connection, account, i % 3 === 0 ? 0 : 1_400);
        const abandoned = await begin(store.connection, account, { leaseMs: 1 });
        await sweep(store.connection, account.bucket, 100);
        await abandoned.end(300);
        await pay(store.connection, account, { paymentId: `${lane} ${i}`, micros: 900 });
        served++;
      }
    };
    let latecomers = 0;
    const comeLate = async () => {
      for (; !isOver; latecomers++) await createAccount(store.connection, latecomers % 256);
    };
    const lanes = Promise.all([...accounts.map(traffic), comeLate()]);
    try {
      for (let round = 1; round <= ROUNDS; round++) {
        const enough = served + 10;
        await waitUntil(() => served >= enough, 'there was some traffic');
        expect(await verify()).toMatchObject({ is_clean: true, drifts: [], gaps: [] });
      }
    } finally {
      isOver = true;
      await lanes;
    }
    expect(await verify()).toMatchObject({
      is_clean: true,
      repeated: 0,
      accounts: BUCKETS.length + latecomers,
    });
  });
});

describe('reading the whole ledger', () => {
  it.each([
    ['at once', [(_: number) => true]],
    ['in several passes', [(bucket: number) => bucket < 100, (bucket: number) => bucket >= 100]],
  ])('%s gives every entry once, whatever the places it is found in', async (_, passes) => {
    const places = await streamPlaces(store.connection, BUCKETS);
    const other = makeTempFolder();
    await store.exportAll(dir, { keepMs: 3_600_000 });
    await store.exportAll(other, { keepMs: 3_600_000, nodeId: 'b' });
    const place = { connection: store.connection, dirs: [dir, other] };
    const findings = createLedgerFindings();
    const read: string[] = [];
    for (const isInPass of passes) {
      const buckets = new Set([...ALL_BUCKETS].filter(isInPass));
      for await (const { bucket, id } of readLedger({ ...place, buckets, findings })) {
        read.push(`${bucket} ${id}`);
      }
    }
    expect(read.toSorted()).toEqual([...places].toSorted());
    expect(findings.duplicates).toBe(2 * places.size);
    expect(await planPasses(place)).toEqual([ALL_BUCKETS]);
  });
});
