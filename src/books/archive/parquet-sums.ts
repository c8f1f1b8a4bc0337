import type { DaySums, EntryPlace } from './day-sums.ts';
import { type DuckDb, quoteText, type ResultCell } from './open-duckdb.ts';

/** Sums up what a Parquet file holds. */
export async function sumParquet(duckDb: DuckDb, path: string): Promise<DaySums> {
  const file = `read_parquet(${quoteText(escapeGlob(path))}, hive_partitioning = false)`;
  const [sums = []] = await duckDb.readAll(
    `SELECT count(*), coalesce(sum(held), 0), coalesce(sum(charged), 0), coalesce(sum(short), 0) FROM ${file}`,
  );
  const [first] = await duckDb.readAll(
    `SELECT ms, bucket, seq FROM ${file} ORDER BY ms, bucket, seq LIMIT 1`,
  );
  const [last] = await duckDb.readAll(
    `SELECT ms, bucket, seq FROM ${file} ORDER BY ms DESC, bucket DESC, seq DESC LIMIT 1`,
  );
  const [rows, held, charged, short] = sums.map((sum) => BigInt(sum as bigint));
  return {
    rows: Number(rows),
    held: held ?? 0n,
    charged: charged ?? 0n,
    short: short ?? 0n,
    first: first === undefined ? null : toPlace(first),
    last: last === undefined ? null : toPlace(last),
  };
}

function toPlace([ms, bucket, seq]: readonly ResultCell[]): EntryPlace {
  return { ms: Number(ms), bucket: Number(bucket), seq: Number(seq) };
}

/** DuckDB reads each path as a pattern. */
export function escapeGlob(path: string): string {
  return path.replaceAll(/[[*?]/g, (char) => `[${char}]`);
}
