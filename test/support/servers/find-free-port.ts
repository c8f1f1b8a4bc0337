import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the range for outgoing connections, so that no such connection can take a port meanwhile.
 */
const PORT_MIN = 10_000;
const PORT_MAX = 30_000;

/**
 * Test files run in separate processes, some at the same time. Each process has its own range of
 * ports, by its worker number: a server may bind a port only seconds after the port is found.
 */
const PLACES_MAX = 10;
const PORTS_PER_PLACE = (PORT_MAX - PORT_MIN) / PLACES_MAX;
const place = Number(process.env['VITEST_POOL_ID'] ?? 0) % PLACES_MAX;
const first = PORT_MIN + place * PORTS_PER_PLACE;

/** Each file starts at a different port, and never gets the same port twice in a row. */
let next = Math.floor(Math.random() * PORTS_PER_PLACE);

export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = first + next;
    next = (next + 1) % PORTS_PER_PLACE;
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const listening = once(server, 'listening').then(
    () => true,
    () => false,
  );
  server.listen(port, '127.0.0.1');
  if (!(await listening)) return false;
  server.close();
  await once(server, 'close');
  return true;
}
