import type { Log } from '../../lib/log.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { type RandomBytes, randomBase62 } from '../../lib/units/base62.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { AUDIT_KEY } from '../../redis/redis-keys.ts';
import { DirectoryError } from '../directory-error.ts';
import { createRecentWrites, type RepeatWrites } from '../recent-writes.ts';
import { createRecordStore } from '../record-store.ts';
import type { AuditEntry } from './audit-entry.ts';
import { createWaitingWrites } from './waiting-writes.ts';

/** If there are more, the oldest are dropped. An entry takes about 1 KB. */
export const AUDIT_ENTRIES_MAX = 20_000;
const ENTRY_ID_CHARS = 16;

const script = loadLuaScript(
  new URL('./note.lua', import.meta.url),
  ['audit'],
  ['entry_id', 'entry', 'at_ms', 'is_repeat', 'entries_max'],
);

/**
 * What operators changed, kept in Redis. An entry is written right after its change. In a Cluster
 * the change lives on another node, so both cannot be written together. While Redis is out, entries
 * wait in memory. If the node crashes then, or between a change and its entry, only the log of the
 * process has the entry.
 */
export interface AuditLog {
  /** Resolves when the entry is in Redis, or waits in memory for Redis. */
  add(entry: AuditEntry): Promise<void>;
  /** Called after a change of masters, which may have lost the last entries. Safe at any time. */
  replayRecentEntries: RepeatWrites;
  close(): Promise<void>;
}

interface AuditLogOptions {
  readonly connection: Pick<RedisConnection, 'send'>;
  readonly randomBytes: RandomBytes;
  readonly clock: Clock;
  /**
   * The clock for what a failover may lose. Defaults to `clock`, for where nobody watches the
   * masters.
   */
  readonly masterClock?: Clock;
  readonly log: Log;
}

export function createAuditLog(options: AuditLogOptions): AuditLog {
  const { connection, randomBytes, clock, log } = options;
  const store = createRecordStore(connection);
  const recent = createRecentWrites(options.masterClock ?? clock);
  const waiting = createWaitingWrites(log);

  /** Creates a write that may be repeated: the log gets the entry once. */
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
        // The change has taken place, so it must not fail because of its entry.
        if (!(error instanceof DirectoryError))
          log.error({ err: error }, 'the audit log is broken');
        waiting.add(write);
      }
    },
    replayRecentEntries: recent.repeat,
    close: waiting.close,
  };
}
