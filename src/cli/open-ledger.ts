import { join, resolve } from 'node:path';
import { ConfigError } from '../config/config-error.ts';
import { parseConfig } from '../config/parse-config.ts';
import { readConfigSource } from '../config/source/read-config-source.ts';
import { connectLedger } from '../ledger/connect-ledger.ts';
import type { LedgerPlace } from '../ledger/read-ledger.ts';
import { unixRedisTarget } from '../lib/address/redis-target.ts';
import { createLog } from '../log/create-log.ts';

/** How many entries are read between two updates of the progress. */
const ENTRIES_SHOWN = 1_000;

interface OpenLedgerOptions {
  readonly configPath: string | undefined;
  /**
   * The data folders of all nodes whose segments are on this machine. If empty, the folder in the
   * settings.
   */
  readonly dataDirs: readonly string[];
  readonly err: (text: string) => void;
  readonly progress: (text: string) => void;
}

/**
 * Runs a command on the segments and on Redis directly. The exit code is 1 if they cannot be
 * reached.
 */
export async function withLedger(
  { configPath, dataDirs, err, progress }: OpenLedgerOptions,
  run: (place: LedgerPlace, onEntry: () => void) => Promise<number>,
): Promise<number> {
  try {
    const config = parseConfig(readConfigSource(configPath));
    const target =
      config.redis === 'embedded'
        ? unixRedisTarget(join(config.dataDir, 'redis.sock'))
        : config.redis;
    const dirs = (dataDirs.length === 0 ? [config.dataDir] : dataDirs).map((dir) =>
      join(resolve(dir), 'ledger'),
    );
    const connection = await connectLedger(target, createLog('error', 'ledger'));
    try {
      const place = { connection, dirs: [...new Set(dirs)] };
      return await run(place, countProgress(progress));
    } finally {
      progress('');
      await connection.close();
    }
  } catch (error) {
    if (error instanceof ConfigError) for (const problem of error.problems) err(problem);
    else err(`tollgate: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

/** Shows the progress only now and then, since a terminal is slow. */
function countProgress(show: (text: string) => void): () => void {
  let entries = 0;
  show('reading the ledger');
  return () => {
    entries += 1;
    if (entries % ENTRIES_SHOWN === 0) show(`${entries} entries of the ledger`);
  };
}
