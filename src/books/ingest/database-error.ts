import { StaleBatchError } from '../writing/write-batch.ts';

/** The database failed, and not Redis. */
export class DatabaseError extends Error {}

/** Redis did not answer a question that came up in the middle of a batch. */
export class RedisInBatchError extends Error {}

/** Tells failures of the database from all others. */
export async function markDatabaseErrors<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StaleBatchError) throw error;
    if (error instanceof RedisInBatchError) throw error.cause;
    throw new DatabaseError(error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  }
}
