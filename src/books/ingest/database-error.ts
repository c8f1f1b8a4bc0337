import { describeError } from '../../lib/describe-error.ts';
import { StaleBatchError } from '../writing/write-batch.ts';

/** The database failed, and not Redis. */
export class DatabaseError extends Error {}

class RedisInBatchError extends Error {}

/**
 * Awaits `work`, and turns a failure of the database into a `DatabaseError`, which distinguishes
 * it from failures of Redis.
 */
export async function markDatabaseErrors<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StaleBatchError) throw error;
    if (error instanceof RedisInBatchError) throw error.cause;
    throw new DatabaseError(describeError(error), { cause: error });
  }
}

/** Awaits a call of Redis within work on the database: its failure is not one of the database. */
export async function inRedis<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (cause) {
    throw new RedisInBatchError('Redis did not answer in the middle of a batch', { cause });
  }
}
