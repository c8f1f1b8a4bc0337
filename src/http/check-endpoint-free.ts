import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { Endpoint } from '../lib/address/endpoint.ts';
import { formatEndpoint } from '../lib/address/parse-endpoint.ts';

/**
 * Workers share their port, so any other program of the same user could share it too, without a
 * warning. The primary therefore checks that the endpoint is free before the first worker takes it.
 */
export async function checkEndpointFree(endpoint: Endpoint): Promise<void> {
  if (endpoint.kind === 'unix') {
    if (await isAnswered(endpoint.path)) throw inUse(endpoint);
    rmSync(endpoint.path, { force: true });
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

function inUse(endpoint: Endpoint, cause?: unknown): Error {
  const reason = cause instanceof Error ? cause.message : 'another program answers there';
  return new Error(`cannot listen on ${formatEndpoint(endpoint)}: ${reason}`, { cause });
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
