import { spawnSync } from 'node:child_process';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { CleanUp } from '../support/create-temp-dir.ts';

/** A way for a command that runs alone in a network to reach one port of this machine. */
export interface Tunnel {
  /** Returns the command that runs this one so. */
  wrap(command: string): string;
}

/**
 * Runs in the network of the command: takes connections to the same port there, and passes them on
 * to the socket. Ends with the command.
 */
const ENTRANCE = `
const { connect, createServer } = require('node:net');
const [socket, port, command] = process.argv.slice(1);
createServer((client) => {
  const way = connect(socket);
  client.pipe(way).pipe(client);
  client.on('error', () => way.destroy());
  way.on('error', () => client.destroy());
}).listen(Number(port), '127.0.0.1', () => {
  const child = require('node:child_process').spawn('bash', ['-c', command], { stdio: 'inherit' });
  child.once('exit', (code) => process.exit(code ?? 1));
});`;

const CAN_ISOLATE =
  spawnSync('unshare', ['-rn', 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' }).status === 0;

/** Where the machine allows no network of one's own, the command runs in that of the machine. */
export async function startTunnel(dir: string, port: number, cleanUp: CleanUp): Promise<Tunnel> {
  if (!CAN_ISOLATE) return { wrap: (command) => command };
  const path = join(dir, 'tunnel');
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const way = connect(port, '127.0.0.1');
    client.pipe(way).pipe(client);
    for (const end of [client, way]) {
      open.add(end);
      end
        .on('error', () => {})
        .on('close', () => {
          open.delete(end);
          client.destroy();
          way.destroy();
        });
    }
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  cleanUp(() => {
    server.close();
    for (const end of open) end.destroy();
  });
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  return {
    wrap(command) {
      const inside = `ip link set lo up && exec ${quote(process.execPath)} -e "$ENTRANCE" ${quote(path)} ${port} ${quote(command)}`;
      return `ENTRANCE=${quote(ENTRANCE)} exec unshare -rn bash -c ${quote(inside)}`;
    },
  };
}
