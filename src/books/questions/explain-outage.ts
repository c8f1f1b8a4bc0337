import { classifyRedisError } from '../../redis/classify-redis-error.ts';
import { BooksError } from './books-error.ts';

/** SQLSTATE: lost connections, no resources left, ended by the server, no such database. */
const POSTGRES_CODES = /^(08|53|57|58|3D000)/;
/** SQLSTATE: no such table. */
const NO_TABLE_CODE = '42P01';
const ENTRIES_TABLE = /entries_(\d{4})(\d\d)(\d\d)/;
const LIBSQL_CODES = /^SQLITE_(BUSY|LOCKED|IOERR|FULL|CANTOPEN|PROTOCOL|NOMEM|READONLY)/;
/** Some errors of the clients have only texts. */
const TEXTS = [
  'Connection terminated',
  'Client has encountered a connection error',
  'Query read timeout',
  'timeout exceeded when trying to connect',
  'unable to open',
  'the books are closed',
  'driver has already been destroyed',
];

/** Turns an outage of the database or Redis into an expected rejection; leaves others alone. */
export function explainOutage(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof BooksError) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (code === NO_TABLE_CODE || error.message.includes('no such table')) {
    const [, ...date] = ENTRIES_TABLE.exec(error.message) ?? [];
    if (date.length > 0) {
      const moved = `the entries of ${date.join('-')} went to the archive while they were read: ask again`;
      return new BooksError('entries_dropped', moved, { cause: error });
    }
    const message = 'the database has no tables of the books yet: a node makes them when it starts';
    return new BooksError('books_unavailable', message, { cause: error });
  }
  const isOfDatabase =
    POSTGRES_CODES.test(code) ||
    LIBSQL_CODES.test(code) ||
    TEXTS.some((text) => error.message.includes(text));
  if (!isOfDatabase && classifyRedisError(error) === 'fault') return error;
  const message = isOfDatabase
    ? 'the database of the books does not answer at the moment'
    : 'Redis or the database of the books does not answer at the moment';
  return new BooksError('books_unavailable', message, { cause: error });
}
