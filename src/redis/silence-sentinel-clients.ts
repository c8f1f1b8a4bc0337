import type { Redis } from 'ioredis';

interface SentinelClientMaker {
  connectToSentinel?: (...args: unknown[]) => Redis;
}

/**
 * The clients that listen for failovers have no error listener, so each Sentinel that is down would
 * be printed to stderr, past the log, for ever. There is no option and no event to reach them.
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
