import { clearInterval, setInterval } from 'node:timers';
import { fileURLToPath } from 'node:url';
import type { BooksThreads } from '../bookkeeping/start-books-threads.ts';
import type { Config } from '../config/config.ts';
import type { ConfigSource } from '../config/source/read-config-source.ts';
import type { Log } from '../lib/log.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';
import { runUntilSilent } from '../supervise/run-until-silent.ts';

const CHECK_MS = 5_000;
const EVERY_MS = 3_600_000;
/** Late entries that the archive may have do not count until they are compared. */
const COMPARE_AGAIN_MS = 15_000;
/** After a failure: the archive may be out of reach. */
const COMPARE_LATER_MS = 600_000;
/** A run may take much longer: it reports each page of entries and each file. */
const SILENCE_MAX_MS = 3_600_000;
/** Beside what DuckDB takes, which has its own bound. */
const HEAP_MB_MAX = 192;

const PROGRAM = fileURLToPath(new URL('../main.js', import.meta.url));

interface ArchiverOptions {
  readonly config: Pick<Config, 'books'>;
  /**
   * The source of the settings in use. A reload changes them, except what they say of the books.
   */
  readonly sourceInUse: () => ConfigSource;
  readonly metrics: Pick<ProcessMetrics, 'booksArchiveFailures'>;
  readonly clock: Clock;
  readonly log: Log;
}

interface RunningArchiver {
  /** Kills the process, if it runs. */
  stop(): Promise<void>;
}

/**
 * If the settings name an archive, the node that writes the books archives them once an hour, and
 * compares late entries with the archive soon after they come. A separate process does this,
 * because it needs much memory for a short time. It may be killed at any moment.
 */
export function startArchiver(
  threads: Pick<BooksThreads, 'report'>,
  { config, sourceInUse, metrics, clock, log }: ArchiverOptions,
): RunningArchiver {
  if (config.books.archive === undefined) return { stop: async () => {} };
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  /** When the last run ended: one that was killed keeps the lease for a while. */
  let lastMs = -Infinity;
  let compareAfterMs = COMPARE_AGAIN_MS;

  const check = () => {
    const report = threads.report();
    if (running !== undefined || report?.isIngesting !== true) return;
    const everyMs = (report.facts?.doubtful ?? 0) > 0 ? compareAfterMs : EVERY_MS;
    // A clock that was ahead may have dated the last run into the future.
    if (Math.abs(clock.nowMs() - lastMs) < everyMs) return;
    running = runArchiver(sourceInUse(), stopping.signal)
      .then(
        () => {
          compareAfterMs = COMPARE_AGAIN_MS;
          log.info({}, 'checked the books for days to archive');
        },
        (error) => {
          compareAfterMs = COMPARE_LATER_MS;
          if (stopping.signal.aborted) return;
          metrics.booksArchiveFailures.at({}).add(1);
          log.error(
            { err: error },
            'the books could not be archived; the next try is in an hour at most',
          );
        },
      )
      .finally(() => {
        running = undefined;
        lastMs = clock.nowMs();
      });
  };
  const timer = setInterval(check, CHECK_MS).unref();

  return {
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}

/**
 * It is given the settings in use, since the file may have others by now, which a reload has
 * refused. They contain secrets, so they go over a pipe.
 */
function runArchiver(source: ConfigSource, signal: AbortSignal): Promise<void> {
  const heap = `--max-old-space-size=${HEAP_MB_MAX}`;
  const command = [heap, PROGRAM, 'books', 'archive', '--settings-on-stdin'];
  return runUntilSilent(command, {
    ...{ input: JSON.stringify(source), silenceMaxMs: SILENCE_MAX_MS, signal },
  });
}
