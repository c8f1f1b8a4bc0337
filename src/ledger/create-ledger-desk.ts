import { classifyRedisError } from '../redis/classify-redis-error.ts';
import { describeReceipt } from './describe-receipt.ts';
import type { LedgerFilter } from './filter-ledger.ts';
import { findRequest } from './find-request.ts';
import { LedgerQueryError } from './ledger-query-error.ts';
import { listEntries } from './list-entries.ts';
import type { LedgerPlace } from './read-ledger.ts';
import { sumUsage, type UsageQuery, type UsageReport } from './sum-usage.ts';

/** Each may need as much memory as a pass over the ledger does. */
const READERS_MAX = 2;
const SEARCHES_MAX = 16;

/** Answers what operators ask of the ledger. Throws `LedgerQueryError` for every expected no. */
export interface LedgerDesk {
  /** Undefined when the ledger knows no such request. */
  findReceipt(requestId: string): Promise<object | undefined>;
  sumUsage(query: UsageQuery): Promise<UsageReport>;
  /** Lines of JSON, several in one text. */
  listEntries(filter: LedgerFilter): AsyncIterable<string>;
}

export function createLedgerDesk(place: LedgerPlace): LedgerDesk {
  const readers = createSeats(READERS_MAX);
  const searches = createSeats(SEARCHES_MAX);
  return {
    async findReceipt(requestId) {
      const leave = searches.take();
      try {
        return describeReceipt(requestId, await findRequest(place, requestId));
      } catch (error) {
        throw explainOutage(error);
      } finally {
        leave();
      }
    },
    async sumUsage(query) {
      const leave = readers.take();
      try {
        return await sumUsage(place, query);
      } catch (error) {
        throw explainOutage(error);
      } finally {
        leave();
      }
    },
    async *listEntries(filter) {
      const leave = readers.take();
      try {
        yield* listEntries(place, filter);
      } catch (error) {
        throw explainOutage(error);
      } finally {
        leave();
      }
    },
  };
}

function explainOutage(error: unknown): unknown {
  if (error instanceof LedgerQueryError || classifyRedisError(error) === 'fault') return error;
  return new LedgerQueryError('ledger_unavailable', 'Redis does not answer at the moment', {
    cause: error,
  });
}

function createSeats(seatsMax: number) {
  let taken = 0;
  return {
    /** Answers what gives the seat back. */
    take() {
      if (taken >= seatsMax) {
        const message = `${seatsMax} others are reading the ledger: try again later`;
        throw new LedgerQueryError('too_many_readers', message);
      }
      taken++;
      return () => {
        taken--;
      };
    },
  };
}
