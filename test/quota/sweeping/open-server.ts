import {
  openConnection,
  standalone,
  type TestConnection,
  tcp,
  waitForRedis,
} from '../../support/servers/redis-connection.ts';
import { startRedisServer } from '../../support/servers/start-redis-server.ts';

/** An empty server. Tests that open one close all connections and servers after each. */
export async function openServer(): Promise<TestConnection> {
  const server = await startRedisServer();
  const connection = openConnection(standalone(tcp(server.port)));
  await waitForRedis(connection);
  return connection;
}
