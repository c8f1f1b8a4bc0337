import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems give to outgoing connections, so that none of those can take one meanwhile. */
const PORT_MIN = 10_000;
const PORT_MAX = 30_000;

/** Test files run in processes of their own: each begins somewhere else, and gives no port twice in a row. */
let next = PORT_MIN + Math.floor(Math.random() * (PORT_MAX - PORT_MIN));

export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = next;
    next = next < PORT_MAX ? next + 1 : PORT_MIN;
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
