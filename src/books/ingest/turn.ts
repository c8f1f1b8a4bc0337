import { readIngestion } from '../writing/write-batch.ts';
import type { AuditReaderOptions } from './audit-reader.ts';
import { type AuditReader, createAuditReader } from './audit-reader.ts';
import { markDatabaseErrors } from './database-error.ts';
import { createNamesMirror } from './names/names-mirror.ts';
import {
  createStreamReader,
  type StreamReader,
  type StreamReaderOptions,
} from './stream-reader.ts';
import type { WorkRests } from './work-rests.ts';

/** What a node does from taking the lease until losing it. */
export interface Turn {
  /**
   * Enters at most one batch of entries, and does what else is due. True when every stream was read
   * to its end.
   */
  carryOn(nowMs: number): Promise<boolean>;
  /** Whether a call has succeeded. */
  hasCarriedOn(): boolean;
  /** Every older entry is in the books; undefined before all streams were read once. */
  untilMs(): number | undefined;
  /** Reads the cursors again, and the last minutes before them. */
  rewind(): void;
}

interface TurnOptions extends StreamReaderOptions, Omit<AuditReaderOptions, 'connection' | 'pace'> {
  readonly rests?: Pick<WorkRests, 'allow'>;
}

export function createTurn(options: TurnOptions): Turn {
  const { connection, books, pace, rests } = options;
  const names = createNamesMirror(connection, books);
  let readers: { readonly streams: StreamReader; readonly audit: AuditReader } | undefined;
  let untilMs: number | undefined;
  let hasCarriedOn = false;
  let endsReadMs = Number.NEGATIVE_INFINITY;
  let trimmedMs = Number.NEGATIVE_INFINITY;
  let auditReadMs = Number.NEGATIVE_INFINITY;
  let namesBegunMs = Number.NEGATIVE_INFINITY;

  const openReaders = async () => {
    const ingestion = await markDatabaseErrors(readIngestion(books));
    return {
      streams: createStreamReader(ingestion, options),
      audit: createAuditReader(ingestion.auditCursor, options),
    };
  };

  /** By the clock of Redis, which may be a different one after a failover. */
  const isDue = (lastMs: number, nowMs: number, everyMs: number) =>
    Math.abs(nowMs - lastMs) >= everyMs;

  const copyNames = async (nowMs: number) => {
    if (isDue(namesBegunMs, nowMs, pace.namesMs) && !names.isReading()) {
      names.begin();
      namesBegunMs = nowMs;
    }
    if (names.isReading()) await names.readPortion();
  };

  return {
    hasCarriedOn: () => hasCarriedOn,
    untilMs: () => untilMs,
    rewind() {
      readers = undefined;
      endsReadMs = Number.NEGATIVE_INFINITY;
    },
    async carryOn(nowMs) {
      readers ??= await openReaders();
      const { streams, audit } = readers;
      const readUntilMs = nowMs - pace.entryAgeMs;
      if (isDue(endsReadMs, nowMs, pace.lookMs)) {
        endsReadMs = nowMs;
        await streams.look();
      }
      const isLate = untilMs === undefined || nowMs - untilMs > pace.lateMs;
      const restMaxMs = isLate ? 0 : pace.roundMs;
      rests?.allow(restMaxMs);
      const reading = await streams.readBatch(readUntilMs, restMaxMs);
      const isCaughtUp = reading.isComplete && reading.failure === undefined;
      if (isCaughtUp) untilMs = readUntilMs;
      if (isDue(trimmedMs, nowMs, pace.trimMs)) {
        trimmedMs = nowMs;
        await streams.trim(nowMs - pace.keepMs);
      }
      if (isDue(auditReadMs, nowMs, pace.roundMs)) {
        if (await audit.readPage(readUntilMs)) auditReadMs = nowMs;
        await copyNames(nowMs);
      }
      if (reading.failure !== undefined) throw reading.failure;
      hasCarriedOn = true;
      return isCaughtUp;
    },
  };
}
