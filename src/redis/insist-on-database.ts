import type { Redis } from 'ioredis';

/**
 * Ends each connection whose database is refused, so that the client tries again. By itself it
 * only reports the refusal, and sends every command to database 0.
 */
export function insistOnDatabase(client: Redis): Redis {
  const select = client.select.bind(client) as (database: number | string) => Promise<'OK'>;
  client.select = (database: number | string) =>
    select(database).catch((error: Error) => {
      throw new DatabaseRefusal(database, error);
    });
  client.on('error', (error: Error) => {
    if (error instanceof DatabaseRefusal) client.disconnect(true);
  });
  return client;
}

class DatabaseRefusal extends Error {
  override readonly name = 'DatabaseRefusal';

  constructor(database: number | string, { message }: Error) {
    super(`Redis has no database ${database}, or its user may not select it (${message})`);
  }
}
