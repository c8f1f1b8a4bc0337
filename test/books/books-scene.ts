import { randomBytes, randomUUID } from 'node:crypto';
import { describe } from 'vitest';
import type { Books, Engine } from '../../src/books/engine/books.ts';
import { migrateBooks } from '../../src/books/engine/migrate-books.ts';
import { openBooks } from '../../src/books/engine/open-books.ts';
import type { EntryRow, PaymentRow } from '../../src/books/engine/tables.ts';
import type { BooksTarget } from '../../src/lib/address/books-target.ts';
import { createRequestIdMint } from '../../src/lib/request-id.ts';
import { type CleanUp, createTempDir } from '../support/create-temp-dir.ts';
import { type PostgresServer, startPostgres } from '../support/servers/start-postgres.ts';
import { useCleanUp } from '../support/use-clean-up.ts';

export interface BooksScene {
  readonly engine: Engine;
  /** Of books that are empty. */
  createTarget(): Promise<BooksTarget>;
  /** Empty books that can be written. */
  create(): Promise<Books>;
  open(target: BooksTarget, isReader?: boolean): Books;
}

/** Runs a suite on both engines, with a real server of Postgres. */
export function describeBooks(name: string, suite: (scene: BooksScene) => void): void {
  describe.each(['libsql', 'postgres'] as const)(`${name} (%s)`, (engine) => {
    suite(createScene(engine, useCleanUp()));
  });
}

function createScene(engine: Engine, cleanUp: CleanUp): BooksScene {
  let starting: Promise<PostgresServer> | undefined;
  const createTarget = async (): Promise<BooksTarget> => {
    if (engine === 'libsql') return createFileTarget(cleanUp);
    starting ??= startPostgres(cleanUp);
    const url = await (await starting).createDatabase(randomUUID());
    return { kind: 'postgres', url, connectionsMax: 4 };
  };
  const open = createBooksOpener(cleanUp);
  return {
    engine,
    createTarget,
    open,
    async create() {
      const books = open(await createTarget());
      await migrateBooks(books, Date.now());
      return books;
    },
  };
}

export function createFileTarget(cleanUp: CleanUp): BooksTarget {
  return { kind: 'file', dir: createTempDir(cleanUp) };
}

/** Opens books that are closed in the end. */
export function createBooksOpener(cleanUp: CleanUp): BooksScene['open'] {
  return (target, isReader = false) => {
    const books = openBooks({ target, isReader, name: 'test' });
    cleanUp(() => books.close());
    return books;
  };
}

const mintRequestId = createRequestIdMint(randomBytes);
const NOW_MS = Date.parse('2026-11-20T12:00:00Z');

const ENTRY: Omit<EntryRow, 'request' | 'details'> = {
  ...{ ms: NOW_MS, bucket: 7, seq: 0, kind: 'charge' },
  ...{ account: 'acct_a', group: null, key: 'key_a', end_user: null },
  ...{ model: 'llm-opus-4.7', month: '202611', upstream: 'main', status: 200 },
  ...{ outcome: 'complete', refusal: null, streamed: 1, estimated: 0 },
  ...{ input: 10, cache_read: 1, cache_write_5m: 2, cache_write_1h: 3, output: 20 },
  ...{ thinking: 4, searches: 0, held: 900, charged: 500, short: 0, balance: 99_500, cost: 300 },
  ...{ started_ms: NOW_MS - 800, first_ms: 200, total_ms: 800 },
};

/** Of one spread, since of many it would take thirty times as long. */
export function makeEntry(changes: Partial<EntryRow> = {}): EntryRow {
  return {
    ...ENTRY,
    request: mintRequestId(NOW_MS),
    details: Buffer.from([1, 2, 0]),
    ...changes,
  };
}

export function makePayment(changes: Partial<PaymentRow> = {}): PaymentRow {
  return {
    ...{ ms: NOW_MS, bucket: 7, seq: 9, kind: 'topup', payment: `p-${randomUUID()}` },
    ...{ account: 'acct_a', amount: 1_000_000, balance: 1_000_000, note: null },
    ...changes,
  };
}
