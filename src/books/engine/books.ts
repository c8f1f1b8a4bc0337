import type { Kysely, Transaction } from 'kysely';
import type { BooksTables } from './tables.ts';

export type Engine = 'libsql' | 'postgres';

/** An open connection, or a pool of them, to the books. */
export interface Books {
  readonly engine: Engine;
  readonly db: Kysely<BooksTables>;
  close(): Promise<void>;
}

export type BooksTransaction = Transaction<BooksTables>;
