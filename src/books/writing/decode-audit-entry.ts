import type { AuditEntry } from '../../accounts/audit/audit-entry.ts';
import type { AuditRow } from '../engine/audit-row.ts';
import { msOfStreamId, type StreamId, seqOfStreamId } from '../stream/stream-id.ts';

/** Places of entries that were written again after a failover lie this far apart. */
const PLACES_PER_MS = 2 ** 20;

/**
 * Reads what `accounts/audit/note.lua` writes, and throws if it is something else. The time is that
 * of the first writing: after a failover the same entry may stand at a later place.
 */
export function decodeAuditEntry(id: StreamId, fields: readonly string[]): AuditRow {
  const [idName, entryId = '', atName, at, entryName, entry = ''] = fields;
  const ms = Number(at);
  if (idName !== 'id' || atName !== 'at' || entryName !== 'entry' || !Number.isSafeInteger(ms)) {
    throw new Error('it has other fields than an entry of the audit log');
  }
  const { what, who, node, account, key, outcome, before, after } = JSON.parse(entry) as AuditEntry;
  const lateMs = Math.max(0, msOfStreamId(id) - ms);
  const seq = Math.min(lateMs * PLACES_PER_MS + seqOfStreamId(id), Number.MAX_SAFE_INTEGER);
  return {
    ...{ entry: clean(entryId), ms, seq },
    ...{ what: cleanText(what), via: cleanText(who.via) },
    ...{ token: cleanIfAny(who.token), address: cleanIfAny(who.address), node: cleanText(node) },
    ...{ account: cleanIfAny(account), key: cleanIfAny(key), outcome: cleanText(outcome) },
    ...{ before: encodeIfAny(before), after: encodeIfAny(after) },
    // Entries of earlier versions name none.
    ...{ operator: cleanIfAny(who.operator?.id), operator_name: cleanIfAny(who.operator?.name) },
  };
}

/** Throws unless it is a text. Postgres takes no zero bytes in one. */
function cleanText(value: unknown): string {
  if (typeof value !== 'string') throw new Error(`${typeof value} is no text`);
  return clean(value);
}

function cleanIfAny(value: unknown): string | null {
  return value === null || value === undefined ? null : cleanText(value);
}

function clean(text: string): string {
  return text.replaceAll('\0', '');
}

/** JSON has no zero bytes. */
function encodeIfAny(value: object | null | undefined): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}
