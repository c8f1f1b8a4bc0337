import type { Clock } from '../lib/time/clock.ts';
import { keysOfBucket } from '../quota/keys-of-bucket.ts';
import { type CreditReply, credit, type Payment } from '../quota/scripts/credit.ts';
import type { Warnings } from '../quota/scripts/warnings.ts';
import {
  type RecordReply,
  type RecordWrite,
  WRITES_KNOWN,
  writeRecord,
} from '../quota/scripts/write-record.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';
import type { CountReplicas } from './count-replicas.ts';
import { createRecentWrites, type RepeatWrites, TOO_EARLY } from './recent-writes.ts';
import type { RecordStore } from './record-store.ts';

export type WriteResult<Reply> = Reply & {
  /**
   * How many replicas had the write when the caller learned of it; 0 also if there are no
   * replicas.
   */
  readonly replicated: number;
};

export interface Writer {
  writeRecord(write: RecordWrite): Promise<WriteResult<RecordReply>>;
  /**
   * `repeated` only if another call has certainly entered it before. If the reply to an attempt
   * of this call was lost, it is `credited`, even if another call had entered it: nobody can
   * know.
   */
  writePayment(payment: Payment): Promise<WriteResult<CreditReply>>;
  /**
   * Called after a change of masters. Writes again what the new master does not have, and leaves
   * the rest as it is.
   */
  replayRecentWrites: RepeatWrites;
}

interface WriterOptions {
  readonly clock: Clock;
  readonly warnings: () => Warnings;
  readonly countReplicas: CountReplicas;
}

/**
 * Writes what must not be lost: it repeats a write if the reply is lost, waits for a replica, and
 * keeps the write for a while.
 */
export function createWriter(
  connection: RedisConnection,
  store: RecordStore,
  { clock, warnings, countReplicas }: WriterOptions,
): Writer {
  const recent = createRecentWrites(clock);

  return {
    async writeRecord(write) {
      const reply = await store.ask(() => writeRecord(connection, write));
      if (reply.kind !== 'written') return { ...reply, replicated: 0 };
      recent.add(async (isLast) => {
        const expected = expectedOfRepeat(write, reply.version, isLast);
        const repeated = await store.ask(() => writeRecord(connection, { ...write, expected }));
        if (isTooEarly(repeated, expected)) return TOO_EARLY;
        if (isLost(repeated, expected, reply.version)) throw describeLost(write);
        return undefined;
      });
      return { ...reply, replicated: await countReplicas(write.record) };
    },
    async writePayment(payment) {
      let attempts = 0;
      const reply = await store.ask(() => {
        attempts += 1;
        return credit(connection, payment, warnings());
      });
      if (reply.kind !== 'credited' && reply.kind !== 'repeated')
        return { ...reply, replicated: 0 };
      // An attempt that got no reply may have entered it, and nobody else would ever report it.
      const kind = attempts > 1 ? 'credited' : reply.kind;
      // The payment was covered when it was entered, whatever has been held since.
      const entered = { ...payment, isForced: true };
      recent.add(async () => {
        const repeated = await store.ask(() => credit(connection, entered, warnings()));
        return repeated.kind === 'missing' ? TOO_EARLY : undefined;
      });
      const account = keysOfBucket(payment.bucket).account(payment.accountId);
      return { ...reply, kind, replicated: await countReplicas(account) };
    },
    replayRecentWrites: recent.repeat,
  };
}

/**
 * Changes to a record are repeated in their order, as long as the nodes that made the earlier
 * ones may still repeat those. So the later of two changes stays, except that a revocation is
 * final.
 */
function expectedOfRepeat(
  { expected, fields }: RecordWrite,
  version: number,
  isLast: boolean,
): string {
  if (expected === 'new') return expected;
  if (fields['status'] === 'revoked') return '';
  return isLast || expected === '' ? `<${version}` : expected;
}

/** Whether the record still lacks changes that were made before this one. */
function isTooEarly(reply: RecordReply, expected: string): boolean {
  if (reply.kind === 'missing') return true;
  return reply.kind === 'conflict' && reply.version < Number(expected);
}

/**
 * Whether the record has other changes in the place of this one: it would still know this one,
 * since few have followed. Whoever changed it meanwhile did not see this change, so it is not
 * made again.
 */
function isLost(reply: RecordReply, expected: string, version: number): boolean {
  if (reply.kind !== 'conflict' || expected === 'new') return false;
  return reply.version - version < WRITES_KNOWN;
}

/** Names the fields without their values, which may be secrets. */
function describeLost({ subject, id, fields }: RecordWrite): Error {
  const names = Object.keys(fields).join(', ');
  return new Error(
    `a change of ${subject} ${id} (${names}) was lost: others came before its repeat`,
  );
}
