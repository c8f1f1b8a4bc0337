import { renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SettleReply } from '../../src/quota/scripts/settle.ts';
import type { Settlement } from '../../src/quota/settlement/settlement.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  CHARGED,
  filesIn,
  isOut,
  openJournal,
  pathOfSegment,
  readUnsettled,
  settleAll,
} from './journal-scene.ts';
import { idsOf, makePayer, makeSettlement, makeSettlements } from './settle-scene.ts';

describe('the settle journal', () => {
  it('settles what it was given, and its file goes', async () => {
    const dir = createTempDir();
    const settled: Settlement[] = [];
    const { journal } = await openJournal(dir, async (settlement) => {
      settled.push(settlement);
      return CHARGED;
    });
    const settlements = makeSettlements(150);
    await journal.append(settlements.slice(0, 100));
    await journal.append(settlements.slice(100));
    expect(await journal.drain(60_000)).toBe(0);
    expect(settled.toSorted(byId)).toEqual(settlements.toSorted(byId));
    await waitUntil(() => filesIn(dir).length === 0, 'the file is removed');
  });

  it('tries for ever while Redis is out, and says how much is left', async () => {
    let attempts = 0;
    let isBack = false;
    const { journal } = await openJournal(createTempDir(), () => {
      attempts += 1;
      return isBack ? Promise.resolve(CHARGED) : isOut();
    });
    await journal.append(makeSettlements(3));
    await waitUntil(() => attempts > 9, 'it has tried again and again');
    expect(await journal.drain(1)).toBe(3);
    expect(journal.depth).toBe(3);
    isBack = true;
    expect(await journal.drain(60_000)).toBe(0);
  });

  it('leaves what is left when it is closed to the next one', async () => {
    const dir = createTempDir();
    const settlements = makeSettlements(500);
    const { journal } = await openJournal(dir);
    await journal.append(settlements);
    await journal.close();
    await expect(journal.append(makeSettlements(1))).rejects.toThrow('closed');
    const next = await settleAll(dir);
    expect(next.left).toBe(0);
    expect(next.settled.toSorted(byId)).toEqual(settlements.toSorted(byId));
    expect(next.log.lines).toEqual([]);
    expect(filesIn(dir)).toEqual([]);
  });

  it('keeps what is appended while earlier files are waiting', async () => {
    const dir = createTempDir();
    const all: Settlement[] = [];
    for (let run = 0; run < 3; run++) {
      const { journal } = await openJournal(dir);
      const settlements = makeSettlements(20);
      all.push(...settlements);
      await journal.append(settlements);
      expect(journal.depth).toBe(all.length);
      await journal.close();
    }
    expect(filesIn(dir)).toHaveLength(3);
    expect(idsOf((await settleAll(dir)).settled).sort()).toEqual(idsOf(all).sort());
  });

  it('is for its owner only', async () => {
    const dir = join(createTempDir(), 'journal');
    const { journal } = await openJournal(dir);
    await journal.append(makeSettlements(1));
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(statSync(pathOfSegment(dir, 1)).mode & 0o777).toBe(0o600);
  });

  it('says so when it cannot write, and takes the next one when it can', async () => {
    const dir = join(createTempDir(), 'journal');
    const { journal } = await openJournal(dir);
    rmSync(dir, { recursive: true });
    await expect(journal.append(makeSettlements(2))).rejects.toThrow('ENOENT');
    expect(journal.depth).toBe(0);
    const { journal: other } = await openJournal(dir);
    await other.close();
    await journal.append(makeSettlements(2));
    expect(journal.depth).toBe(2);
  });

  it.each([
    ['too old', () => Promise.resolve<SettleReply>({ kind: 'too_old' }), /too old/],
    ['refused', () => Promise.reject(new Error('ERR wrong')), /ERR wrong/],
  ])('leaves what is %s to the operator, in a file and in the log', async (_, settle, reason) => {
    const dir = createTempDir();
    const payer = makePayer(5);
    const lastKnownMs = Date.UTC(2026, 10, 21);
    const settlements = [1, 2_001].map((actualMicros) =>
      makeSettlement(payer, { actualMicros, lastKnownMs }),
    );
    const { journal, log } = await openJournal(dir, settle, async ({ actualMicros }) => {
      if (actualMicros === 1) throw new Error('the ledger is away');
      return 1;
    });
    await journal.append(settlements);
    expect(await journal.drain(60_000)).toBe(0);
    await waitUntil(() => filesIn(dir).length === 1, 'the journal is empty');
    const lines = readUnsettled(dir);
    const charges = lines.map(({ actualMicros, chargedMicros, leftMicros, leftCredits }) =>
      [actualMicros, chargedMicros, leftMicros, leftCredits].join(' '),
    );
    expect(charges.sort()).toEqual(['1   ', '2001 1 2000 0.002']);
    expect(lines[0]).toMatchObject({
      reason: expect.stringMatching(reason),
      ...payer,
      month: '202611',
      model: 'llm-a',
      lastKnownAt: '2026-11-21T00:00:00.000Z',
      usage: { input: 1, output: 5 },
    });
    expect(log.lines.map(({ level }) => level).sort()).toEqual(['error', 'error', 'warn']);
  });

  it('tells how much waits for people, also of earlier runs, until the file is moved away', async () => {
    const dir = createTempDir();
    const { journal } = await openJournal(dir, async () => ({ kind: 'too_old' }));
    expect(journal.unsettledBytes()).toBe(0);
    await journal.append(makeSettlements(2));
    await journal.drain(60_000);
    await journal.close();
    const { journal: next } = await openJournal(dir);
    const file = join(dir, 'unsettled.ndjson');
    expect(next.unsettledBytes()).toBe(statSync(file).size);
    renameSync(file, join(dir, 'done.ndjson'));
    await waitUntil(() => next.unsettledBytes() === 0, 'it is seen that the file is gone');
  });

  it('sends again what was acknowledged, when it is told to', async () => {
    const settled: string[] = [];
    const { journal, told } = await openJournal(createTempDir(), async ({ requestId }) => {
      settled.push(requestId);
      return CHARGED;
    });
    const settlements = makeSettlements(100);
    await journal.append(settlements);
    await journal.drain(60_000);
    expect(settled).toHaveLength(100);
    settled.length = 0;
    journal.replay();
    await waitUntil(() => settled.length >= 100, 'all were sent again');
    expect(settled.sort()).toEqual(idsOf(settlements).sort());
    expect(journal.depth).toBe(0);
    expect(told).toEqual(settlements.map(() => 'charge'));
  });
});

function byId(a: Settlement, b: Settlement): number {
  return a.requestId < b.requestId ? -1 : 1;
}
