import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { createTempDir } from '../../support/create-temp-dir.ts';
import { readResidentBytes } from '../../support/read-resident-bytes.ts';
import { readTcpQueues } from '../../support/read-tcp-queues.ts';
import { startGateway } from '../../support/servers/start-gateway.ts';
import { startRedisServer, stopRedisServers } from '../../support/servers/start-redis-server.ts';
import type { FloodFormat, FloodOrder } from '../../support/upstreams/flood-events.ts';
import { type FloodClient, openFlood, piecesOf } from '../../support/upstreams/open-flood.ts';
import { startFloodUpstream } from '../../support/upstreams/start-flood-upstream.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterAll(stopRedisServers);

/**
 * What a stream keeps in the gateway: one read of 64 KiB as it came, a second as events, a third
 * that takes these two over the limit, one event on its way to the client and one on its way to the
 * queue. The fourth read is the possible error of the upstream's count.
 */
const READ_BYTES = 64 * 1024;
const heldBytesMax = (eventBytes: number) => 4 * READ_BYTES + 2 * eventBytes;

/** What the system buffers for a Unix socket whose peer does not read: net.core.wmem_default. */
const UNIX_SOCKET_BYTES = 212_992;

/**
 * Measured: 110 to 310 KiB, depending on the size of events and on how far the heap had grown. This
 * covers the bytes counted above, their objects and garbage that is not collected yet.
 */
const STREAM_RESIDENT_BYTES_MAX = 384 * 1024;

/** The gateway's limit is 30 s after the client's socket stops taking bytes. */
const STALL_WAIT_MAX_MS = 70_000;

/** After this many looks without a change, the streams count as still. */
const STILL_LOOKS = 10;

const ENDLESS = 1e9;
/** Of the model, in credits for a token. */
const OUTPUT_PRICE = 5 / 1e6;

async function start(kind: FloodFormat, env: Readonly<Record<string, string>> = {}) {
  const upstream = await startFloodUpstream();
  const config = `workers: 1\nupstreams: [{name: flood, kind: ${kind}, url: "${upstream.url}", max_concurrency: 1000}]\n`;
  const gateway = await startGateway({ config, env });
  const operator = admin(gateway);
  const account = await operator.createAccount();
  const { key } = await operator.createKey(account);
  return { upstream, gateway, operator, account, key };
}

/** The bytes that left the gateway for a client that reads nothing. */
function readDelivered(gatewayPort: number, clientPort: number): number {
  const queues = readTcpQueues();
  const unread = queues.get(`${clientPort}-${gatewayPort}`)?.undecodedBytes ?? 0;
  const unsent = queues.get(`${gatewayPort}-${clientPort}`)?.unsentBytes ?? 0;
  return unread + unsent;
}

/** Returns the counts once nothing moves any more. */
async function readWhenStill(read: () => Promise<readonly number[]>): Promise<readonly number[]> {
  let last: readonly number[] = [];
  let looks = 0;
  await waitUntil(async () => {
    const now = await read();
    looks = now.join() === last.join() && now.every((bytes) => bytes > 0) ? looks + 1 : 0;
    last = now;
    return looks >= STILL_LOOKS;
  }, 'nothing moves any more');
  return last;
}

describe.each(['native', 'chat'] as const)(
  'a client that reads nothing of a %s stream',
  (format) => {
    it.each([1_024, 48 * 1_024, 700 * 1_024])(
      'stops its upstream, whose events have %i bytes, and loses nothing',
      async (textBytes) => {
        const { upstream, gateway, key } = await start(format);
        const at = { host: '127.0.0.1', port: gateway.port };
        const client = await openFlood({
          at,
          key,
          format,
          order: { textBytes, eventsMax: ENDLESS },
        });
        const clientPort = client.socket.localPort ?? 0;
        const [delivered = 0, taken = 0] = await readWhenStill(async () => [
          readDelivered(gateway.port, clientPort),
          ...(await upstream.readTakenBytes()),
        ]);
        expect(taken - delivered).toBeLessThan(heldBytesMax(textBytes));
        await upstream.finish();
        const pieces = await client.readAll();
        expect(pieces.length * textBytes).toBeGreaterThan(delivered / 2);
        expect(pieces).toEqual(piecesOf(pieces.length, textBytes));
      },
    );
  },
);

describe.each(['native', 'chat'] as const)(
  '%s streams of 500 clients that read nothing',
  (format) => {
    const STREAMS = 500;
    const STREAMS_AT_ONCE = 25;
    const ORDER = { textBytes: 500, eventsMax: 900 };
    const FIRST_STREAMS = 100;

    it('take little memory, leave the worker to others, and lose nothing', async () => {
      // A Unix socket buffers far less than a TCP connection, so the gateway keeps most of a
      // stream.
      const path = join(createTempDir(), 'listen');
      const redis = await startRedisServer();
      const env = {
        TOLLGATE_LISTEN: `unix:${path}`,
        TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}`,
      };
      const { upstream, gateway, key, operator, account } = await start(format, env);
      const pid = gateway.workerPids()[0] ?? 0;
      const open = (order: FloodOrder) => openFlood({ at: { path }, key, format, order });
      const ask = async () => (await open({ ...ORDER, eventsMax: 3 })).readAll();
      for (let i = 0; i < FIRST_STREAMS; i++) await ask();

      const residentBytesBefore = readResidentBytes(pid);
      await upstream.hold();
      const clients: FloodClient[] = [];
      // A few at a time: the test is not about how many streams the store admits at once.
      while (clients.length < STREAMS) {
        const more = Array.from({ length: STREAMS_AT_ONCE }, () => open(ORDER));
        clients.push(...(await Promise.all(more)));
        await waitUntil(
          async () => (await upstream.calls()).length === FIRST_STREAMS + clients.length,
          `${clients.length} streams have begun`,
        );
      }
      await upstream.release();
      const taken = await readWhenStill(async () =>
        (await upstream.readTakenBytes()).slice(FIRST_STREAMS),
      );
      expect(Math.max(...taken)).toBeLessThan(UNIX_SOCKET_BYTES + heldBytesMax(ORDER.textBytes));
      const grownBytes = readResidentBytes(pid) - residentBytesBefore;
      expect(grownBytes / STREAMS).toBeLessThan(STREAM_RESIDENT_BYTES_MAX);
      expect(await ask()).toEqual(piecesOf(3, ORDER.textBytes));

      const expected = piecesOf(ORDER.eventsMax, ORDER.textBytes).join();
      const texts = await Promise.all(
        clients.map(async (client) => (await client.readAll()).join()),
      );
      expect(texts.every((text) => text === expected)).toBe(true);
      await operator.waitUntilSettled(account);
    });
  },
);

describe('a client that goes on reading nothing', () => {
  it('is cut off, which ends its upstream and settles what it has cost', async () => {
    const { upstream, gateway, key, operator, account } = await start('native');
    const at = { host: '127.0.0.1', port: gateway.port };
    const order = { textBytes: 1_024, eventsMax: ENDLESS };
    const client = await openFlood({ at, key, format: 'native', order });
    const [delivered = 0, taken = 0] = await readWhenStill(async () => [
      readDelivered(gateway.port, client.socket.localPort ?? 0),
      ...(await upstream.readTakenBytes()),
    ]);
    const isOpen = async () => (await upstream.calls())[0]?.isOpen;
    await waitUntil(async () => (await isOpen()) === false, 'it is ended', STALL_WAIT_MAX_MS);
    await operator.waitUntilSettled(account);
    // So much more than the 8,000 tokens that were asked for has at least a token for each 6 bytes.
    const spent = 1_000 - (await operator.account(account)).balance;
    const textBytes = 6 * (spent / OUTPUT_PRICE);
    expect(textBytes).toBeGreaterThan(0.8 * delivered);
    expect(textBytes).toBeLessThan(taken);
  });
});
