import type { Redis } from 'ioredis';

interface SentinelClientMaker {
  connectToSentinel?: (...args: unknown[]) => Redis;
}

/**
 * The clients that listen for failovers have no error listener. So each Sentinel that is down would
 * be printed to stderr for ever, past the log. No option and no event gives access to these
 * clients.
 */
export function silenceSentinelClients(client: Redis): void {
  const { connector } = client as unknown as { connector: SentinelClientMaker };
  const connect = connector.connectToSentinel;
  if (connect === undefined) return;
  connector.connectToSentinel = (...args) => {
    const sentinel = connect.apply(connector, args);
    sentinel.on('error', () => {});
    return sentinel;
  };
}
