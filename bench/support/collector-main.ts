import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Accepts all spans and keeps none. */
const server = createServer((request, response) => {
  request.resume().once('end', () => response.end('{}'));
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.once('disconnect', () => process.exit());
