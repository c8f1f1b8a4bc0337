import type { Books } from '../engine/books.ts';
import { msOfStreamId } from '../stream/stream-id.ts';

/** Counts of entries that the books can never show. Names are those of the admin API. */
export interface MissingCounts {
  /** Stretches that Redis had lost before they were read. */
  readonly gaps: number;
  /** Entries that cannot be decoded. */
  readonly damaged_lines: number;
}

interface MissingQuery {
  /** An account shares one with others, and nobody knows whose entries are missing. */
  readonly bucket?: number | undefined;
  /** The first moment whose entries do not matter any more. */
  readonly toMs?: number | undefined;
}

/** Damaged entries of the audit log have a number below those of buckets. */
export async function countMissing(
  { db }: Pick<Books, 'db'>,
  { bucket, toMs = Number.POSITIVE_INFINITY }: MissingQuery,
): Promise<MissingCounts> {
  let gaps = db.selectFrom('gaps').select('after').where('bucket', '>=', 0);
  let damaged = db
    .selectFrom('damaged')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('bucket', '>=', 0);
  if (bucket !== undefined) {
    gaps = gaps.where('bucket', '=', bucket);
    damaged = damaged.where('bucket', '=', bucket);
  }
  if (toMs !== Number.POSITIVE_INFINITY) damaged = damaged.where('ms', '<', toMs);
  const begun = (await gaps.execute()).filter(({ after }) => msOfStreamId(after) < toMs);
  return {
    gaps: begun.length,
    damaged_lines: (await damaged.executeTakeFirstOrThrow()).count,
  };
}
