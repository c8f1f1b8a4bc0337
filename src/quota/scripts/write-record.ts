import { pack } from 'msgpackr';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { CHANGES_CHANNEL } from '../../redis/redis-keys.ts';

/** A record knows at least this many of its last writes, if their ids have 16 characters. */
export const WRITES_KNOWN = 17;

/** One change to the record of a key, a group or an account. */
export interface RecordWrite {
  readonly subject: 'key' | 'group' | 'account';
  readonly id: string;
  /** The Redis key of the record, and that of the set that lists all records of its kind. */
  readonly record: string;
  readonly index: string;
  /** Writes with the same id are carried out once. */
  readonly writeId: string;
  /**
   * The version that the record must have: `new` for no record yet, '' for any version, `7` for
   * exactly that version, `<7` for an older one.
   */
  readonly expected: string;
  /** How long the replaced digest stays valid. */
  readonly overlapMs: number | undefined;
  /** An empty text deletes its field. */
  readonly fields: Readonly<Record<string, string>>;
}

export type RecordReply =
  | { readonly kind: 'written' | 'conflict'; readonly version: number }
  | { readonly kind: 'missing' };

const script = loadLuaScript(
  new URL('./write-record.lua', import.meta.url),
  ['record', 'index'],
  ['subject', 'id', 'write_id', 'expected', 'overlap_ms', 'fields', 'channel'],
);

/** Creates or changes a record, once for each write, and notifies every worker. */
export async function writeRecord(
  connection: Pick<RedisConnection, 'send'>,
  write: RecordWrite,
): Promise<RecordReply> {
  const reply = await script.call(
    connection,
    { record: write.record, index: write.index },
    {
      subject: write.subject,
      id: write.id,
      write_id: write.writeId,
      expected: write.expected,
      overlap_ms: write.overlapMs === undefined ? '' : String(write.overlapMs),
      fields: pack(write.fields),
      channel: CHANGES_CHANNEL,
    },
  );
  const [kind, version] = reply as [RecordReply['kind'], number];
  return kind === 'missing' ? { kind } : { kind, version };
}
