import { afterAll, afterEach, beforeAll } from 'vitest';
import {
  closeConnections,
  openConnection,
  standalone,
  type TestConnection,
  tcp,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';

/** A server for the tests of a file. It is empty at the start of each test. */
export function useRedis() {
  let server: TestRedisServer | undefined;
  let connection: TestConnection | undefined;
  beforeAll(async () => {
    server = await startRedisServer();
    connection = openConnection(standalone(tcp(server.port)));
    await waitForRedis(connection);
  });
  afterEach(async () => {
    await server?.cli('flushall');
  });
  afterAll(async () => {
    await closeConnections();
    await stopRedisServers();
  });
  return {
    get server() {
      if (server === undefined) throw new Error('the server runs while tests do');
      return server;
    },
    get connection() {
      if (connection === undefined) throw new Error('the server runs while tests do');
      return connection;
    },
  };
}
