import type { PostgresServer } from '../../support/servers/start-postgres.ts';

/** Returns `books.url` of an empty database, which nodes reach from any network. */
export async function createBooks(postgres: PostgresServer, row: number): Promise<string> {
  const database = `row_${row}`;
  await postgres.createDatabase(database);
  return `postgres://postgres@/${database}?host=${postgres.socketFolder}`;
}
