import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkEndpointFree } from '../../src/http/check-endpoint-free.ts';
import { createTempDir } from '../support/create-temp-dir.ts';

const placeSocket = () => join(createTempDir(), 'api.sock');
const check = (path: string) => checkEndpointFree({ kind: 'unix', path });

async function listen(path: string) {
  const server = createServer().listen(path);
  await once(server, 'listening');
  return server;
}

it('a path without a file is free', async () => {
  await check(placeSocket());
});

it('a file that is not a socket stays, and the path is not free', async () => {
  const path = placeSocket();
  writeFileSync(path, 'settings');
  await expect(check(path)).rejects.toThrow('a file that is not a socket is there');
  expect(readFileSync(path, 'utf8')).toBe('settings');
});

it('a socket at which a program answers stays', async () => {
  const path = placeSocket();
  const server = await listen(path);
  await expect(check(path)).rejects.toThrow('another program answers there');
  expect(existsSync(path)).toBe(true);
  server.close();
});

it('a socket that a dead process has left is removed', async () => {
  const path = placeSocket();
  const server = await listen(path);
  // Closing removes the socket by its first name.
  renameSync(path, `${path}.left`);
  server.close();
  await once(server, 'close');
  await check(`${path}.left`);
  expect(existsSync(`${path}.left`)).toBe(false);
});
