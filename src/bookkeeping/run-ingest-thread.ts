import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Books } from '../books/engine/books.ts';
import { isLockTimeout, migrateBooks } from '../books/engine/migrate-books.ts';
import { openBooks } from '../books/engine/open-books.ts';
import { createLagReader } from '../books/ingest/lag-reader.ts';
import { type Ingester, startIngester } from '../books/ingest/start-ingester.ts';
import { watchWaiting } from '../books/ingest/watch-waiting.ts';
import { createWorkRests } from '../books/ingest/work-rests.ts';
import { createRefusalWriter } from '../books/writing/refusal-writer.ts';
import { createFindCost } from '../catalogue/find-cost.ts';
import type { BooksTarget } from '../lib/address/books-target.ts';
import type { RedisTarget } from '../lib/address/redis-target.ts';
import { describeError } from '../lib/describe-error.ts';
import type { Log } from '../lib/log.ts';
import { unpackSecrets } from '../lib/pack-secrets.ts';
import { createLog } from '../log/create-log.ts';
import { connectRedis } from '../redis/connect-redis.ts';
import { pause } from '../timers/pause.ts';
import { systemClock } from '../timers/system-clock.ts';
import { keepHeapCompact } from './compact-heap.ts';
import { createFactsReader } from './create-facts-reader.ts';
import { createForgetter } from './create-forgetter.ts';
import { createIndexRenewer } from './create-index-renewer.ts';
import { createMonthCloser } from './create-month-closer.ts';
import { logFailures } from './log-failures.ts';
import type { IngestOrder, IngestReport, MessageToIngester } from './thread-messages.ts';

const COMMAND_TIMEOUT_MS = 2_000;
const REPORT_MS = 1_000;
/** The lag is read even while there is no database. */
const LAG_MS = 3_000;
/** Between two counts of the entries in Redis, by whichever node. */
const COUNT_MS = 10_000;
/** Longer than a failover takes. */
const COUNT_KEPT_MS = 60_000;
const MIGRATE_AGAIN_MS = 2_000;
/** While somebody has locked a table for a long time: each try keeps others waiting. */
const MIGRATE_LATER_MS = 30_000;
/** Facts are read so rarely that they cost nothing. */
const FACTS_MS = 15_000;
/** Whether a round is due costs one query. */
const FORGET_MS = 15_000;
/** Between days whose indexes are renewed, so that entries can be written in between. */
const RENEW_MS = 5_000;
/** How often to check for a month that has ended. */
const CLOSE_MS = 60_000;
/** A thread that has to end is ended in the middle of such work. */
const LONG_WORK_MAX_MS = 3_600_000;

/** The thread of the primary that writes the books: its composition root. */
if (parentPort !== null) void run(parentPort, workerData as IngestOrder);

async function run(port: MessagePort, order: IngestOrder): Promise<void> {
  const { nodeId, refusalsKeptMs } = order;
  const log = createLog(order.logLevel, 'books');
  const clock = systemClock;
  const stopping = new AbortController();
  const connection = connectRedis({
    target: unpackSecrets(order.redis) as RedisTarget,
    name: 'primary-ingest',
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
    log,
  });
  const { books, rests, refusals } = openWriter(order);
  const facts = createFactsReader(books, log);
  const lag = createLagReader(connection);
  // Counts even while there is no database: that is when most entries wait.
  const waiting = watchWaiting({
    ...{ connection, nodeId, everyMs: COUNT_MS, keptMs: COUNT_KEPT_MS, log },
  });
  let findCost = createFindCost(order.costs);
  let ingester: Ingester | undefined;
  let failure: string | undefined;

  port.on('message', (message: MessageToIngester) => {
    if (message.type === 'costs') findCost = createFindCost(message.costs);
    else if (message.type === 'master_change') ingester?.noteMasterChange();
    else if (message.type === 'refusals') refusals.note(message.batch);
    else stopping.abort();
  });
  const report = repeat(REPORT_MS, stopping.signal, async () => {
    const state = ingester?.state();
    const own: IngestReport = {
      isIngesting: state?.isIngesting ?? false,
      lagMs: lag.lagMs(),
      waitingEntries: waiting.waitingEntries(),
      failure: state?.failure ?? failure,
      facts: facts.facts(),
    };
    port.postMessage({ type: 'state', state: own });
  });
  const followLag = repeat(LAG_MS, stopping.signal, () => lag.read());

  await migrate(books, stopping.signal, log, (reason) => {
    failure = reason;
  });
  if (!stopping.signal.aborted) {
    keepHeapCompact();
    ingester = startIngester({
      ...{ connection, books, rests, run: order.run, clock, log },
      waitingEntries: waiting.waitingEntries,
      findCost: (upstream, model, usage) => findCost(upstream, model, usage),
    });
  }
  const notWritten = 'refused requests cannot be written into the books';
  const writeRefusals = logFailures(refusals.write, notWritten, log);
  const writing = repeat(REPORT_MS, stopping.signal, writeRefusals);
  const followFacts = repeat(FACTS_MS, stopping.signal, facts.read);
  const options = { books, connection, clock, refusalsKeptMs, signal: stopping.signal };
  const forget = createForgetter(options, () => ingester, log);
  const forgetting = repeat(FORGET_MS, stopping.signal, forget);
  const ofLongDuties = { ...options, withPatience: lendPatient(books, order.books) };
  const working = carryOutLongDuties(ofLongDuties, () => ingester, log);
  await Promise.all([report, followLag, writing, followFacts, forgetting]);
  waiting.stop();
  await ingester?.stop();
  await writeRefusals();
  await working;
  await Promise.allSettled([books.close(), connection.close()]);
  port.close();
}

function openWriter({ books: target, nodeId }: IngestOrder) {
  const rests = createWorkRests();
  const books = openBooks({ target, isReader: false, name: 'ingest', takeRest: rests.take });
  const refusals = createRefusalWriter(books, {
    ...{ nodeId, ...systemClock },
    elapsedMs: () => performance.now(),
  });
  return { books, rests, refusals };
}

function carryOutLongDuties(
  options: Parameters<typeof createMonthCloser>[0],
  ingester: () => Ingester | undefined,
  log: Log,
): Promise<unknown> {
  return Promise.all([
    repeat(RENEW_MS, options.signal, createIndexRenewer(options, ingester, log)),
    repeat(CLOSE_MS, options.signal, createMonthCloser(options, ingester, log)),
  ]);
}

/** A file has only one writer, and no time limit for its statements. */
function lendPatient(books: Books, target: BooksTarget) {
  return async (work: (patient: Books) => Promise<void>): Promise<void> => {
    if (target.kind === 'file') return await work(books);
    const timeoutMs = LONG_WORK_MAX_MS;
    const patient = openBooks({ target, isReader: false, name: 'duties', timeoutMs });
    try {
      await work(patient);
    } finally {
      await patient.close();
    }
  };
}

/** Tries until it succeeds: the database may start after the node. */
async function migrate(
  books: Books,
  signal: AbortSignal,
  log: Log,
  setFailure: (failure: string | undefined) => void,
): Promise<void> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      await migrateBooks(books, Date.now());
      return setFailure(undefined);
    } catch (error) {
      setFailure(describeError(error));
      if (attempt === 1) log.error({ err: error }, 'the books cannot be opened at the moment');
      const againMs = isLockTimeout(error) ? MIGRATE_LATER_MS : MIGRATE_AGAIN_MS;
      await pause(againMs, signal);
    }
  }
}

/**
 * Failed work is tried again the next time. Work whose failures show nowhere else logs them; a
 * lag that cannot be read shows, because it grows.
 */
async function repeat(everyMs: number, signal: AbortSignal, work: () => Promise<unknown>) {
  while (!signal.aborted) {
    await work().catch(() => {});
    await pause(everyMs, signal);
  }
}
