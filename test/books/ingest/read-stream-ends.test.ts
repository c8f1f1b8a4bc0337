import { afterEach, describe, expect, it } from 'vitest';
import { readStreamEnds } from '../../../src/books/stream/read-stream-ends.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import type { CommandArg } from '../../../src/redis/direct-line/command-writer.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  tcp,
  waitForRedis,
} from '../../support/servers/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../../support/servers/start-redis-server.ts';

afterEach(async () => {
  await closeConnections();
  await stopRedisServers();
});

async function openServer() {
  const server = await startRedisServer();
  const connection = openConnection(standalone(tcp(server.port)));
  await waitForRedis(connection);
  const { send } = connection;
  const commands: string[] = [];
  const counted = {
    isCluster: false,
    send(command: string, args: readonly CommandArg[]) {
      commands.push(command);
      return send(command, args);
    },
  };
  return { send, counted, commands };
}

describe('the ends of all ledgers', () => {
  it('are the ids of their last entries, read in a few calls', async () => {
    const { send, counted, commands } = await openServer();
    for (const bucket of [0, 15, 16, 255]) {
      await send('xadd', [keysOfBucket(bucket).ledger, `5-${bucket}`, 'a', 'b']);
      await send('xadd', [keysOfBucket(bucket).ledger, `7-${bucket}`, 'a', 'b']);
    }
    await send('xtrim', [keysOfBucket(16).ledger, 'MAXLEN', 0]);
    const { ends, failure } = await readStreamEnds(counted);
    expect(failure).toBeUndefined();
    expect([...ends]).toEqual([
      [0, '7-0'],
      [15, '7-15'],
      [255, '7-255'],
    ]);
    expect(commands.filter((command) => command === 'evalsha')).toHaveLength(16);
  });

  it('are read one by one in a Cluster, and one that fails does not stop the others', async () => {
    const { send, counted } = await openServer();
    await send('xadd', [keysOfBucket(3).ledger, '5-3', 'a', 'b']);
    await send('set', [keysOfBucket(4).ledger, 'no stream']);
    await send('xadd', [keysOfBucket(5).ledger, '5-5', 'a', 'b']);
    const { ends, failure } = await readStreamEnds({ ...counted, isCluster: true });
    expect([...ends]).toEqual([
      [3, '5-3'],
      [5, '5-5'],
    ]);
    expect(String(failure)).toContain('WRONGTYPE');
  });
});
