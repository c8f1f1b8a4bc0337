import { afterEach, describe, expect, it } from 'vitest';
import { openSettleJournal } from '../../src/quota/journal/settle-journal.ts';
import { settle } from '../../src/quota/scripts/settle.ts';
import { createSettleQueue } from '../../src/quota/settling/settle-queue.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { DEFAULT_WARNINGS } from '../support/limits/default-warnings.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  type TestConnection,
  tcp,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  beginMany,
  createPayer,
  findWrongCharges,
  makePayer,
  readLedger,
  systemClock,
} from './settle-scene.ts';

afterEach(async () => {
  await closeConnections();
  await stopRedisServers();
});

const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always'];

/** A server whose data survive its process. */
async function startDurableServer() {
  const port = await findFreePort();
  const first = await startRedisServer({ port, args: DURABLE });
  return {
    port,
    dieNow: () => first.signal('SIGKILL'),
    waitForEnd: () => first.stop(),
    restart: () => startRedisServer({ port, args: [...DURABLE, '--dir', first.dir] }),
  };
}

/** The queue of a worker and the journal of a primary, on one connection. */
async function openBooks(connection: TestConnection, dir: string, onReply = () => {}) {
  const parts = {
    async settle(settlement: Parameters<typeof settle>[1]) {
      const reply = await settle(connection, settlement, DEFAULT_WARNINGS);
      onReply();
      return reply;
    },
    clock: systemClock,
    random: Math.random,
    log: createMemoryLog(),
  };
  const onSettled = () => {};
  const findCharged = async () => undefined;
  const journal = await openSettleJournal({ ...parts, dir, findCharged, onSettled });
  const queue = createSettleQueue({
    ...parts,
    handOver: (settlements) => journal.append(settlements),
    onSettled: () => {},
    onDropped: () => {},
  });
  return { journal, queue, log: parts.log };
}

const REPLIES_BEFORE = 500;

describe('an outage in the middle of 2,000 settlements', () => {
  async function startOutage() {
    const server = await startDurableServer();
    const connection = openConnection(standalone(tcp(server.port)));
    await waitForRedis(connection);
    const payer = makePayer(77);
    await createPayer(connection, payer);
    const settlements = await beginMany(connection, payer, 2_000);
    const dir = createTempDir();
    let replies = 0;
    const books = await openBooks(connection, dir, () => {
      replies += 1;
      if (replies === REPLIES_BEFORE) server.dieNow();
    });
    for (const settlement of settlements) books.queue.add(settlement);
    await waitUntil(() => replies >= REPLIES_BEFORE, 'some are settled');
    await server.waitForEnd();
    // On a slow machine the primary has taken some by now.
    expect(books.queue.depth + books.journal.depth).toBeGreaterThan(0);
    return { server, connection, payer, settlements, dir, books };
  }

  it('charges each once, after Redis was killed and came back', async () => {
    const { server, connection, payer, settlements, books } = await startOutage();
    await waitUntil(() => books.queue.depth === 0, 'the primary has taken what was left');
    expect(books.journal.depth).toBeGreaterThan(0);
    await server.restart();
    expect(await books.journal.drain(60_000)).toBe(0);
    await waitForRedis(connection);
    expect(await findWrongCharges(connection, payer, settlements)).toEqual([]);
    books.queue.replay();
    books.journal.replay();
    const hasEnded = () =>
      books.log.lines.filter(({ message }) => message.includes('sent again')).length === 2;
    await waitUntil(hasEnded, 'both have replayed');
    expect(await findWrongCharges(connection, payer, settlements)).toEqual([]);
    expect(books.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
    books.queue.stop();
    await books.journal.close();
  });

  it('charges each once, after the node went down too and only the next one saw Redis', async () => {
    const { server, connection, payer, settlements, dir, books } = await startOutage();
    expect(await books.queue.drain(30_000)).toBe(0);
    books.queue.stop();
    await books.journal.close();
    await server.restart();
    await waitForRedis(connection);
    expect((await readLedger(connection, payer.bucket)).length).toBeLessThan(2_000);
    const next = await openBooks(connection, dir);
    expect(await next.journal.drain(60_000)).toBe(0);
    expect(await findWrongCharges(connection, payer, settlements)).toEqual([]);
    await next.journal.close();
  });
});
