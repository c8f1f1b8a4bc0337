import { once } from 'node:events';
import { lstatSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { Endpoint } from '../lib/address/endpoint.ts';
import { formatEndpoint } from '../lib/address/parse-endpoint.ts';

/**
 * Workers share their port, so any other program of the same user could share it too, without a
 * warning. The primary therefore checks that the endpoint is free before the first worker takes it.
 */
export async function checkEndpointFree(endpoint: Endpoint): Promise<void> {
  if (endpoint.kind === 'unix') {
    await freeSocket(endpoint);
    return;
  }
  const server = createServer();
  server.listen({ host: endpoint.host, port: endpoint.port, exclusive: true });
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw inUse(endpoint, cause);
  }
  server.close();
  await once(server, 'close');
}

/** Removes the socket that a dead process has left, and nothing else. */
async function freeSocket(endpoint: Endpoint & { readonly kind: 'unix' }): Promise<void> {
  const found = lstatSync(endpoint.path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw inUse(endpoint, new Error('a file that is not a socket is there'));
  const refusal = await findRefusal(endpoint.path);
  if (refusal?.code !== 'ECONNREFUSED') throw inUse(endpoint, refusal);
  rmSync(endpoint.path);
}

function inUse(endpoint: Endpoint, cause?: unknown): Error {
  const reason = cause instanceof Error ? cause.message : 'another program answers there';
  return new Error(`cannot listen on ${formatEndpoint(endpoint)}: ${reason}`, { cause });
}

/** Undefined if somebody answers there. */
function findRefusal(path: string): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.on('error', resolve);
  });
}
