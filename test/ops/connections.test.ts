import { once } from 'node:events';
import { request, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { closeConnections } from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startTestOps, type TestOps } from './start-test-ops.ts';

const UNTRUSTED_MAX = 100;

let redis: TestRedisServer;
beforeAll(async () => {
  redis = await startRedisServer();
});
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

/** Strangers with one connection each, which send only what a test tells them to send. */
function createStrangers({ port }: TestOps) {
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return {
    async open(text = '', localAddress = '127.0.0.1'): Promise<Socket> {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      sockets.push(socket);
      socket.on('error', () => {});
      socket.resume();
      await once(socket, 'connect');
      if (text !== '') socket.write(text);
      return socket;
    },
    openCount: () => sockets.filter((socket) => !socket.closed).length,
  };
}

/** Sends a request on its own connection. */
async function ask(ops: TestOps, { token = ops.token.reveal(), from = '127.0.0.1' } = {}) {
  const sent = request(`${ops.url}/admin/v1/accounts`, {
    localAddress: from,
    agent: false,
    headers: { authorization: `Bearer ${token}` },
  }).end();
  const [response] = await once(sent, 'response');
  response.resume();
  return response.statusCode as number;
}

const HEAD = 'POST /admin/v1/accounts HTTP/1.1\r\nhost: a\r\n';
const BUSY = {
  'that say nothing': '',
  'that never end their heads': `${HEAD}x-a: b\r\n`,
  'that never end their bodies': `${HEAD}content-length: 100\r\n\r\n{`,
  'that never end their bodies, with a wrong token': `${HEAD}authorization: Bearer x\r\ncontent-length: 100\r\n\r\n{`,
} as const;

describe('connections without the token', () => {
  it.each(Object.entries(BUSY))('keep out no operator: those %s', async (_name, text) => {
    const ops = await startTestOps(redis, onTestFinished);
    const strangers = createStrangers(ops);
    for (let i = 0; i < 2 * UNTRUSTED_MAX; i++) await strangers.open(text);
    expect(await ask(ops)).toBe(200);
    expect(await ask(ops, { from: '127.0.0.3' })).toBe(200);
    await waitUntil(() => strangers.openCount() <= UNTRUSTED_MAX, 'the oldest ones gave way');
  });

  it('keep out no operator at another address while ever more of them come', async () => {
    const ops = await startTestOps(redis, onTestFinished);
    const strangers = createStrangers(ops);
    let opened = 0;
    let isOver = false;
    const flood = Array.from({ length: 20 }, async () => {
      while (!isOver) {
        const isOpen = await strangers.open().then(
          () => true,
          () => false,
        );
        if (isOpen) opened += 1;
      }
    });
    for (let i = 0; i < 20 || opened <= 2 * UNTRUSTED_MAX; i++) {
      expect(await ask(ops, { from: '127.0.0.3' })).toBe(200);
    }
    isOver = true;
    await Promise.all(flood);
    await waitUntil(() => strangers.openCount() <= UNTRUSTED_MAX, 'all but the newest gave way');
  });

  it('from a hundred addresses keep out no operator', async () => {
    const ops = await startTestOps(redis, onTestFinished);
    const strangers = createStrangers(ops);
    for (let i = 0; i < UNTRUSTED_MAX; i++) await strangers.open('', `127.0.1.${i + 1}`);
    expect(await ask(ops, { from: '127.0.0.3' })).toBe(200);
  });

  it('never cost an operator the connection that is in use', async () => {
    const ops = await startTestOps(redis, onTestFinished);
    const strangers = createStrangers(ops);
    const token = ops.token.reveal();
    const head = `GET /admin/v1/events HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\n\r\n`;
    const listener = await strangers.open(head);
    await waitUntil(() => listener.bytesRead > 0, 'the operator listens to events');
    for (let i = 0; i < 2 * UNTRUSTED_MAX; i++) await strangers.open();
    const before = listener.bytesRead;
    ops.events.publish({ type: 'change', node: 'one', data: {} });
    await waitUntil(() => listener.bytesRead > before, 'an event comes');
    expect(listener.closed).toBe(false);
  });

  it('are served, and give way to the next', async () => {
    const ops = await startTestOps(redis, onTestFinished);
    const strangers = createStrangers(ops);
    const first = await strangers.open('GET /livez HTTP/1.1\r\nhost: a\r\n\r\n');
    await waitUntil(() => first.bytesRead > 0, 'it is served');
    for (let i = 0; i < UNTRUSTED_MAX - 1; i++) await strangers.open();
    expect((await fetch(`${ops.url}/livez`)).status).toBe(200);
    await waitUntil(() => first.closed, 'the oldest one gave way');
  });
});

it('a client that reads nothing of its answers is cut', async () => {
  const { setTimeout } = ServerResponse.prototype;
  const timed = vi.spyOn(ServerResponse.prototype, 'setTimeout');
  onTestFinished(() => timed.mockRestore());
  timed.mockImplementation(function (this: ServerResponse, ms, onTimeout) {
    return setTimeout.call(this, ms / 1_000, onTimeout);
  });
  const ops = await startTestOps(redis, onTestFinished);
  ops.metrics = 'x'.repeat(40_000_000);
  const reader = await createStrangers(ops).open();
  reader.pause().write('GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n');
  const answers = timed.mock.contexts as ServerResponse[];
  await waitUntil(() => answers.some(({ destroyed }) => destroyed), 'the server gives up');
  reader.resume();
  await waitUntil(() => reader.closed, 'the rest is read');
  expect(reader.bytesRead).toBeLessThan(ops.metrics.length);
});

it('a client that asks again before it was answered is cut', async () => {
  const ops = await startTestOps(redis, onTestFinished);
  await fetch(`${ops.url}/openapi.json`);
  const made = vi.spyOn(JSON, 'stringify');
  onTestFinished(() => made.mockRestore());
  const greedy = await createStrangers(ops).open();
  greedy.write('GET /openapi.json HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(2_000));
  await waitUntil(() => greedy.closed, 'it is cut');
  expect(made).not.toHaveBeenCalled();
  expect(greedy.bytesRead).toBeLessThan(1_000_000);
});

it('a client that waits for each answer keeps its connection', async () => {
  const ops = await startTestOps(redis, onTestFinished);
  const patient = await createStrangers(ops).open();
  for (let i = 0; i < 50; i++) {
    const sent = once(patient, 'data');
    patient.write('GET /livez HTTP/1.1\r\nhost: a\r\n\r\n');
    await sent;
  }
  expect(patient.closed).toBe(false);
});
