import type { Log } from '../../lib/log.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { type RandomBytes, randomBase62 } from '../../lib/units/base62.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { AUDIT_KEY } from '../../redis/redis-keys.ts';
import { DirectoryError } from '../directory-error.ts';
import { createRecentWrites } from '../recent-writes.ts';
import { createRecordStore } from '../record-store.ts';
import type { AuditEntry } from './audit-entry.ts';
import { type AuditList, type AuditQuery, readAuditLog } from './read-audit-log.ts';
import { createWaitingWrites } from './waiting-writes.ts';

/** The oldest go first. About 1 KB each. */
export const AUDIT_ENTRIES_MAX = 20_000;
const ENTRY_ID_CHARS = 16;

const script = loadLuaScript(
  new URL('./note.lua', import.meta.url),
  ['audit'],
  ['entry_id', 'entry', 'at_ms', 'is_repeat', 'entries_max'],
);

/**
 * What operators changed, kept in Redis. An entry is written right after its change, which lives on another
 * node of a Cluster and so cannot be written together with it. While Redis is out entries wait in memory; a
 * crash of the node then, or between change and entry, leaves them in the log of the process alone.
 */
export interface AuditLog {
  /** Resolves when the entry is in Redis, or waits for it. */
  add(entry: AuditEntry): Promise<void>;
  read(query: AuditQuery): Promise<AuditList>;
  /** For after a change of masters, which may have lost the last entries. Safe at any time. */
  replayRecentEntries(): Promise<void>;
  close(): Promise<void>;
}

interface AuditLogOptions {
  readonly connection: Pick<RedisConnection, 'send'>;
  readonly randomBytes: RandomBytes;
  readonly clock: Clock;
  readonly log: Log;
}

export function createAuditLog(options: AuditLogOptions): AuditLog {
  const { connection, randomBytes, clock, log } = options;
  const store = createRecordStore(connection, clock);
  const recent = createRecentWrites(clock);
  const waiting = createWaitingWrites(log);

  /** A write that may be repeated: the entry is there once. */
  const createWrite = (entry: AuditEntry) => {
    const entryId = randomBase62(ENTRY_ID_CHARS, randomBytes);
    const text = JSON.stringify(entry);
    let atMs = '';
    let isRepeat = false;
    const note = async () => {
      const args = { entry_id: entryId, entry: text, at_ms: atMs, entries_max: AUDIT_ENTRIES_MAX };
      const mark = isRepeat ? '1' : '0';
      isRepeat = true;
      return await script.call(connection, { audit: AUDIT_KEY }, { ...args, is_repeat: mark });
    };
    const repeat = async () => {
      atMs = String(await store.ask(note));
    };
    return async () => {
      await repeat();
      recent.add(repeat);
    };
  };

  return {
    async add(entry) {
      const write = createWrite(entry);
      if (!waiting.isEmpty()) return waiting.add(write);
      try {
        await write();
      } catch (error) {
        // The change took place: it is not to fail for its entry.
        if (!(error instanceof DirectoryError))
          log.error({ err: error }, 'the audit log is broken');
        waiting.add(write);
      }
    },
    read: (query) => readAuditLog(connection, store, query),
    replayRecentEntries: () => recent.repeat(),
    close: waiting.close,
  };
}
