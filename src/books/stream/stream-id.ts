import { assert } from '../../lib/assert.ts';

/**
 * The place of an entry in the ledger of its bucket, such as `1760000000000-3`: milliseconds by the
 * clock of Redis and a number.
 */
export type StreamId = string;

/** Before every entry. */
export const STREAM_START: StreamId = '0-0';

/** The largest number that Redis gives within one millisecond, 2^64 - 1. */
export const NUMBER_MAX = '18446744073709551615';
const PATTERN = /^\d{1,16}-\d{1,20}$/;

export function isStreamId(text: string): boolean {
  return PATTERN.test(text);
}

export function msOfStreamId(id: StreamId): number {
  return Number(id.slice(0, id.indexOf('-')));
}

/** The number within the millisecond. Throws if the books could not keep it exactly. */
export function seqOfStreamId(id: StreamId): number {
  const seq = Number(numberOfStreamId(id));
  if (!Number.isSafeInteger(seq)) throw new Error(`${id} has a number that is too large`);
  return seq;
}

/** Negative when the first stands before the second, 0 when they are the same. */
export function compareStreamIds(first: StreamId, second: StreamId): number {
  const ms = msOfStreamId(first) - msOfStreamId(second);
  return ms === 0 ? compareNumbers(numberOfStreamId(first), numberOfStreamId(second)) : ms;
}

export function laterStreamId(first: StreamId, second: StreamId): StreamId {
  return compareStreamIds(first, second) < 0 ? second : first;
}

export function earlierStreamId(first: StreamId, second: StreamId): StreamId {
  return compareStreamIds(first, second) < 0 ? first : second;
}

/** The last place before this one. */
export function streamIdBefore(id: StreamId): StreamId {
  const ms = msOfStreamId(id);
  const number = BigInt(numberOfStreamId(id));
  if (number > 0n) return `${ms}-${number - 1n}`;
  assert(ms > 0, `${id} is the id of an entry`);
  return `${ms - 1}-${NUMBER_MAX}`;
}

/** The start of the stream when it is not that long. */
export function rewindStreamId(id: StreamId, byMs: number): StreamId {
  return `${Math.max(0, msOfStreamId(id) - byMs)}-0`;
}

export function numberOfStreamId(id: StreamId): string {
  return id.slice(id.indexOf('-') + 1);
}

/** They may exceed what a double holds exactly. */
function compareNumbers(first: string, second: string): number {
  if (first.length !== second.length) return first.length - second.length;
  if (first === second) return 0;
  return first < second ? -1 : 1;
}
