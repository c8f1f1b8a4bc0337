import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import type { CleanUp } from '../create-temp-dir.ts';
import { waitUntil } from '../wait-until.ts';

const BACKLOG = 1;
/** The number of connections that the system accepts before the queue is full. */
const WAITING = BACKLOG + 1;
const CALLERS = 8;

/** Listens in a thread that sleeps forever and never accepts a connection. */
const LISTENER = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: ${BACKLOG} }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });
`;

/** A port that neither accepts nor refuses more connections: clients that connect wait. */
export async function startDeafServer(cleanUp: CleanUp): Promise<number> {
  const worker = new Worker(LISTENER, { eval: true });
  cleanUp(async () => {
    await worker.terminate();
  });
  const [port] = (await once(worker, 'message')) as [number];
  const callers: Socket[] = [];
  cleanUp(() => {
    for (const caller of callers) caller.destroy();
  });
  let connected = 0;
  for (let number = 0; number < CALLERS; number += 1) {
    const caller = connect({ port, host: '127.0.0.1' }, () => {
      connected += 1;
    });
    caller.on('error', () => {});
    callers.push(caller);
  }
  await waitUntil(() => connected >= WAITING, 'nobody else can connect');
  return port;
}
