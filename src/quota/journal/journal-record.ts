import { crc32 } from '../../keys/checksum.ts';
import { decodeSettlement, encodeSettlement, type Settlement } from '../settlement/settlement.ts';

/**
 * A record of the journal:
 *
 *   length       4 bytes, little endian: the length of the settlement
 *   crc32        4 bytes, little endian: of length and settlement, so that zeros are not a record
 *   settlement   packed
 */
const LENGTH_BYTES = 4;
const HEAD_BYTES = 8;
/**
 * A settlement takes about 200 bytes. A greater length than this is not the length of a settlement.
 */
const SETTLEMENT_BYTES_MAX = 65_536;

interface JournalDamage {
  readonly offset: number;
  readonly bytes: number;
  readonly reason: string;
}

interface JournalRecords {
  readonly settlements: readonly Settlement[];
  /** Where an incomplete last record begins; the length of all bytes if there is none. */
  readonly endOffset: number;
  readonly damages: readonly JournalDamage[];
}

export function encodeJournalRecord(settlement: Settlement): Buffer {
  const packed = encodeSettlement(settlement);
  const record = Buffer.allocUnsafe(HEAD_BYTES + packed.length);
  record.writeUInt32LE(packed.length, 0);
  packed.copy(record, HEAD_BYTES);
  record.writeUInt32LE(checksumOf(record), LENGTH_BYTES);
  return record;
}

/**
 * If there is no whole record at an offset, the search for the next record ends after the length
 * of the longest possible record. If it finds none, the rest counts as one damaged part. A last
 * record that was being written when the process died is not damaged: its append has not
 * resolved, so nobody relies on it.
 */
export function decodeJournalRecords(bytes: Buffer): JournalRecords {
  const settlements: Settlement[] = [];
  const damages: JournalDamage[] = [];
  let offset = 0;
  while (offset < bytes.length) {
    const record = readRecord(bytes, offset);
    if (record === undefined) {
      const next = findRecord(bytes, offset + 1);
      if (next === undefined && isTorn(bytes, offset)) break;
      const end = next ?? bytes.length;
      damages.push({ offset, bytes: end - offset, reason: 'no whole record' });
      offset = end;
      continue;
    }
    try {
      settlements.push(decodeSettlement(record.subarray(HEAD_BYTES)));
    } catch (error) {
      damages.push({ offset, bytes: record.length, reason: (error as Error).message });
    }
    offset += record.length;
  }
  return { settlements, endOffset: offset, damages };
}

function readRecord(bytes: Buffer, offset: number): Buffer | undefined {
  if (offset + HEAD_BYTES > bytes.length) return undefined;
  const length = bytes.readUInt32LE(offset);
  const end = offset + HEAD_BYTES + length;
  if (length === 0 || length > SETTLEMENT_BYTES_MAX || end > bytes.length) return undefined;
  const record = bytes.subarray(offset, end);
  return record.readUInt32LE(LENGTH_BYTES) === checksumOf(record) ? record : undefined;
}

function findRecord(bytes: Buffer, from: number): number | undefined {
  const end = Math.min(from + HEAD_BYTES + SETTLEMENT_BYTES_MAX, bytes.length);
  for (let offset = from; offset < end; offset++) {
    if (readRecord(bytes, offset) !== undefined) return offset;
  }
  return undefined;
}

/**
 * A record is torn if it is shorter than its stated length, or if the file grew before the bytes
 * arrived and has only zeros there. A record as long as its stated length was written completely
 * and has changed since. So was a record that is whole except for its stated length.
 */
function isTorn(bytes: Buffer, offset: number): boolean {
  const left = bytes.subarray(offset);
  if (left.length < HEAD_BYTES) return true;
  const length = left.readUInt32LE(0);
  if (length === 0) return left.every((byte) => byte === 0);
  if (length > SETTLEMENT_BYTES_MAX || HEAD_BYTES + length <= left.length) return false;
  const record = Buffer.from(left);
  record.writeUInt32LE(record.length - HEAD_BYTES, 0);
  return record.readUInt32LE(LENGTH_BYTES) !== checksumOf(record);
}

function checksumOf(record: Buffer): number {
  return crc32(record.toString('latin1', 0, LENGTH_BYTES) + record.toString('latin1', HEAD_BYTES));
}
