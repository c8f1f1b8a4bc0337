import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { encodeJournalRecord } from '../../src/quota/journal/journal-record.ts';
import { openSettleJournal } from '../../src/quota/journal/settle-journal.ts';
import type { SettleReply } from '../../src/quota/scripts/settle.ts';
import type { Settlement } from '../../src/quota/settlement/settlement.ts';
import { RedisUnavailable } from '../../src/redis/redis-unavailable.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import { systemClock } from './settle-scene.ts';

export const CHARGED: SettleReply = {
  kind: 'charge',
  chargedMicros: 1,
  shortMicros: 0,
  balanceMicros: 0,
};

export const isOut = () => Promise.reject(new RedisUnavailable());

export async function openJournal(
  dir: string,
  settle: (settlement: Settlement) => Promise<SettleReply> = isOut,
  findCharged: (settlement: Settlement) => Promise<number | undefined> = async () => undefined,
) {
  const log = createMemoryLog();
  /** The settlements that the journal reported as ended. */
  const told: SettleReply['kind'][] = [];
  const journal = await openSettleJournal({
    dir,
    settle,
    findCharged,
    onSettled: ({ kind }) => told.push(kind),
    clock: systemClock,
    random: Math.random,
    log,
  });
  onTestFinished(() => journal.close());
  return { journal, log, told };
}

/**
 * Opens the journal of a folder on a Redis that accepts everything. Returns what the journal
 * settled until it was empty.
 */
export async function settleAll(dir: string) {
  const settled: Settlement[] = [];
  const { journal, log } = await openJournal(dir, async (settlement) => {
    settled.push(settlement);
    return CHARGED;
  });
  const left = await journal.drain(60_000);
  await journal.close();
  return { settled, log, left };
}

export function pathOfSegment(dir: string, number: number): string {
  return join(dir, `settlements-${String(number).padStart(12, '0')}.log`);
}

/** Writes a file as an earlier run leaves it. */
export function writeSegment(
  dir: string,
  settlements: readonly Settlement[],
  change: (bytes: Buffer) => Buffer = (bytes) => bytes,
): void {
  const bytes = change(Buffer.concat(settlements.map(encodeJournalRecord)));
  writeFileSync(pathOfSegment(dir, 1), bytes);
}

export function filesIn(dir: string): string[] {
  return readdirSync(dir).sort();
}

export function readUnsettled(dir: string): Record<string, unknown>[] {
  const lines = readFileSync(join(dir, 'unsettled.ndjson'), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}
