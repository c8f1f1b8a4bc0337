import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { pack } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import { crc32 } from '../../src/keys/checksum.ts';
import {
  decodeJournalRecords,
  encodeJournalRecord,
} from '../../src/quota/journal/journal-record.ts';
import { decodeSettlement, encodeSettlement } from '../../src/quota/settlement/settlement.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { filesIn, openJournal, pathOfSegment, settleAll, writeSegment } from './journal-scene.ts';
import { idsOf, makePayer, makeSettlement, makeSettlements } from './settle-scene.ts';

const MAIN = 'dist/test/quota/journal-main.js';

describe('a settlement', () => {
  it('comes back from its bytes as it was', () => {
    const settlement = makeSettlement(makePayer(255), { actualMicros: 8_999_999_999_999_999 });
    expect(decodeSettlement(encodeSettlement(settlement))).toEqual(settlement);
  });

  it.each([[[3, 'other']], [{ bucket: 1 }], [7]])('is not made out of %j', (value) => {
    expect(() => decodeSettlement(pack(value))).toThrow('not a settlement of version 2 or before');
  });
});

describe('the last record of a journal', () => {
  it('is cut off at whatever byte its writing ended', async () => {
    const settlements = makeSettlements(3);
    const last = settlements.at(-1);
    const lastBytes = last === undefined ? 0 : encodeJournalRecord(last).length;
    expect(lastBytes).toBeGreaterThan(100);
    for (let cut = 1; cut < lastBytes; cut++) {
      const dir = createTempDir();
      writeSegment(dir, settlements, (bytes) => bytes.subarray(0, bytes.length - cut));
      const { journal, log } = await openJournal(dir);
      expect(journal.depth).toBe(2);
      expect(log.lines).toMatchObject([{ level: 'warn', fields: { bytes: lastBytes - cut } }]);
      await journal.close();
      const { settled, log: later } = await settleAll(dir);
      expect(idsOf(settled)).toEqual(idsOf(settlements.slice(0, 2)));
      expect(later.lines).toEqual([]);
    }
  });

  it('is cut off when the disk has zeros in its place', async () => {
    const dir = createTempDir();
    const settlements = makeSettlements(3);
    const kept = Buffer.concat(settlements.slice(0, 2).map(encodeJournalRecord)).length;
    writeSegment(dir, settlements, (bytes) => {
      bytes.fill(0, kept);
      return bytes;
    });
    const { log, settled } = await settleAll(dir);
    expect(idsOf(settled)).toEqual(idsOf(settlements.slice(0, 2)));
    expect(log.lines.map(({ level }) => level)).toEqual(['warn']);
  });

  it('is damaged and not torn, whichever of its bits is wrong', () => {
    const [first, last] = makeSettlements(2).map(encodeJournalRecord);
    if (!first || !last) throw new Error('two records');
    for (let bit = 0; bit < 8 * last.length; bit++) {
      const spoiled = Buffer.concat([first, last]);
      const place = first.length + (bit >> 3);
      spoiled[place] = (spoiled[place] ?? 0) ^ (1 << (bit & 7));
      const { settlements, damages, endOffset } = decodeJournalRecords(spoiled);
      expect(settlements).toHaveLength(1);
      expect(damages).toEqual([
        { offset: first.length, bytes: last.length, reason: 'no whole record' },
      ]);
      expect(endOffset).toBe(spoiled.length);
    }
  });

  it.each([
    ['one bit', (tail: Buffer) => tail.writeUInt8(tail.readUInt8(20) ^ 1, 20)],
    ['a bit of its length', (tail: Buffer) => tail.writeUInt8(tail.readUInt8(1) ^ 2, 1)],
    ['other bytes in its middle', (tail: Buffer) => tail.fill(0xff, 20, 30)],
  ])('is reported with %s wrong, and its file is kept as it was', async (_, spoil) => {
    const dir = createTempDir();
    const settlements = makeSettlements(3);
    const kept = Buffer.concat(settlements.slice(0, 2).map(encodeJournalRecord)).length;
    writeSegment(dir, settlements, (bytes) => {
      spoil(bytes.subarray(kept));
      return bytes;
    });
    const spoiled = readFileSync(pathOfSegment(dir, 1));
    const { log, settled } = await settleAll(dir);
    expect(idsOf(settled)).toEqual(idsOf(settlements.slice(0, 2)));
    expect(log.lines.map(({ level }) => level)).toEqual(['error']);
    expect(filesIn(dir)).toEqual(['settlements-000000000001.damaged']);
    expect(readFileSync(`${dir}/settlements-000000000001.damaged`)).toEqual(spoiled);
  });
});

describe('a damaged record in the middle of a journal', () => {
  it('costs no other one, whichever of its bytes is wrong', () => {
    const [first, second, third] = makeSettlements(3).map(encodeJournalRecord);
    if (!first || !second || !third) throw new Error('three records');
    const whole = Buffer.concat([first, second, third]);
    for (let i = first.length; i < first.length + second.length; i++) {
      const spoiled = Buffer.from(whole);
      spoiled[i] = (spoiled[i] ?? 0) ^ 0x55;
      const { settlements, damages, endOffset } = decodeJournalRecords(spoiled);
      expect(settlements).toHaveLength(2);
      expect(damages).toEqual([
        { offset: first.length, bytes: second.length, reason: 'no whole record' },
      ]);
      expect(endOffset).toBe(whole.length);
    }
  });

  it('is reported, and its file is kept for the operator when all others are settled', async () => {
    const dir = createTempDir();
    const settlements = makeSettlements(3);
    writeSegment(dir, settlements, (bytes) => {
      const middle = Math.floor(bytes.length / 2);
      bytes[middle] = (bytes[middle] ?? 0) ^ 1;
      return bytes;
    });
    const spoiled = readFileSync(pathOfSegment(dir, 1));
    const { settled, log, left } = await settleAll(dir);
    expect(idsOf(settled)).toEqual([settlements[0]?.requestId, settlements[2]?.requestId]);
    expect(left).toBe(0);
    expect(log.lines.map(({ level }) => level)).toEqual(['error']);
    const kept = 'settlements-000000000001.damaged';
    expect(filesIn(dir)).toEqual([kept]);
    expect(readFileSync(`${dir}/${kept}`)).toEqual(spoiled);
    // The number is not used again.
    const { journal } = await openJournal(dir);
    await journal.append(makeSettlements(1));
    expect(filesIn(dir)).toContain('settlements-000000000002.log');
  });

  it('is not looked behind for more than a record can be long', () => {
    const record = encodeJournalRecord(makeSettlement(makePayer(1)));
    const gap = (bytes: number) => Buffer.concat([Buffer.alloc(bytes, 0xff), record]);
    expect(decodeJournalRecords(gap(65_000)).settlements).toHaveLength(1);
    const far = gap(70_000);
    expect(decodeJournalRecords(far).settlements).toEqual([]);
    expect(decodeJournalRecords(far).damages).toMatchObject([{ offset: 0, bytes: far.length }]);
  });

  it('counts as damaged when another version wrote it', () => {
    const payload = pack([99, 'of a later version']);
    const record = Buffer.concat([Buffer.alloc(8), payload]);
    record.writeUInt32LE(payload.length, 0);
    const checked = record.toString('latin1', 0, 4) + payload.toString('latin1');
    record.writeUInt32LE(crc32(checked), 4);
    const after = encodeJournalRecord(makeSettlement(makePayer(1)));
    const { settlements, damages } = decodeJournalRecords(Buffer.concat([record, after]));
    expect(settlements).toHaveLength(1);
    expect(damages).toMatchObject([
      { offset: 0, reason: 'not a settlement of version 2 or before' },
    ]);
  });
});

describe('a process that is killed while it appends', () => {
  it('loses nothing that it said is kept', async () => {
    const dir = createTempDir();
    const acknowledged: string[] = [];
    for (let run = 1; run <= 4; run++) {
      const child = spawn(process.execPath, [MAIN, dir], { stdio: ['ignore', 'pipe', 'inherit'] });
      let text = '';
      child.stdout.on('data', (bytes) => {
        text += String(bytes);
      });
      await waitUntil(() => {
        if (child.exitCode !== null) throw new Error(`it ended: ${child.exitCode}`);
        return text.length > run * 3_000;
      }, 'it has appended something');
      child.kill('SIGKILL');
      await once(child, 'close');
      // The last line may be cut.
      acknowledged.push(...text.split('\n').slice(0, -1));
    }
    expect(acknowledged.length).toBeGreaterThan(400);
    const settled = new Set(idsOf((await settleAll(dir)).settled));
    expect(acknowledged.filter((id) => !settled.has(id))).toEqual([]);
    expect(filesIn(dir)).toEqual([]);
  });
});
