import { setTimeout as sleep } from 'node:timers/promises';
import { BUCKETS } from '../../src/keys/bucket-tags.ts';
import { sweep } from '../../src/quota/scripts/sweep.ts';
import type { RedisConnection } from '../../src/redis/connect-redis.ts';
import { checkEnd } from '../../test/proof/checks/check-end.ts';
import { checkSnapshot } from '../../test/proof/checks/check-snapshot.ts';
import { createViolations, type Violation } from '../../test/proof/checks/violations.ts';
import { type Book, createBook } from '../../test/proof/support/book.ts';
import { takeSnapshot } from '../../test/proof/support/snapshot.ts';
import { DEFAULT_WARNINGS } from '../../test/support/limits/default-warnings.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import type { FleetAccount } from './fleet-world.ts';

const PAUSE_MS = 50;
/** A lease that nobody renews ends within a minute. */
const QUIET_MAX_MS = 120_000;
const SWEPT_MAX = 1_000;

export interface FleetAudit {
  /** Stops looking, because a failover takes back some of what was seen. */
  pause(): Promise<void>;
  /** Looks again, at everything anew. */
  resume(): void;
  /** Waits until nothing is held, and checks all buckets. Returns the ledger of all. */
  finish(): Promise<Book>;
  readonly snapshots: number;
  readonly violations: readonly Violation[];
  report(check: string, text: string): void;
}

/** Compares one bucket after the other with the sums of its ledger, as they are at that instant. */
export function startFleetAudit(
  connection: Pick<RedisConnection, 'send'>,
  world: readonly FleetAccount[],
): FleetAudit {
  const { list, report } = createViolations();
  const caps = new Map(world.flatMap(({ keys }) => keys.map(({ keyId, cap }) => [keyId, cap])));
  const options = { world, report, capMaxOf: (keyId: string) => caps.get(keyId) };
  let book = createBook(report);
  let cursors = new Map<number, string>();
  let snapshots = 0;
  let isPaused = false;
  let looking: Promise<void> | undefined;

  const look = async (bucket: number) => {
    const snapshot = await takeSnapshot(connection, bucket, cursors.get(bucket) ?? '0-0');
    cursors.set(bucket, snapshot.cursor);
    snapshots += 1;
    for (const entry of snapshot.ledger) book.add(entry);
    checkSnapshot(snapshot, { ...options, book });
    return snapshot;
  };
  const run = async () => {
    for (let n = 0; !isPaused; n++) {
      // On a busy machine an answer may be late; the next round sees the same.
      await look(n % BUCKETS).catch(() => {});
      await sleep(PAUSE_MS);
    }
  };
  const pause = async () => {
    isPaused = true;
    await looking;
  };
  const startAnew = () => {
    book = createBook(report);
    cursors = new Map();
  };
  looking = run();

  return {
    pause,
    resume() {
      startAnew();
      isPaused = false;
      looking = run();
    },
    async finish() {
      await pause();
      startAnew();
      for (let bucket = 0; bucket < BUCKETS; bucket++) {
        const isQuiet = async () => {
          await sweep(connection, bucket, SWEPT_MAX, DEFAULT_WARNINGS);
          const { holds, leases } = await look(bucket);
          return holds.size + leases.length === 0;
        };
        await waitUntil(
          () => isQuiet().catch(() => false),
          `bucket ${bucket} holds nothing`,
          QUIET_MAX_MS,
        );
        checkEnd(await look(bucket), world, report);
      }
      return book;
    },
    get snapshots() {
      return snapshots;
    },
    violations: list,
    report,
  };
}
