import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { askGateway } from '../../support/clients/ask-gateway.ts';
import { findFreePort } from '../../support/servers/find-free-port.ts';
import { startDeafServer } from '../../support/servers/start-deaf-server.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';

afterAll(stopRedisServers);
const cleanUp = useCleanUp();

let gateway: Gateway;
let resets = 0;

const NEXT = 'next';
const UNREACHABLE = /^The upstream cannot be reached\.$/;
/** A connection that is reset at once may look as if it never existed. */
const RESET = /^The upstream (cannot be reached|broke off its answer)\.$/;
const CASES = [
  { what: 'refuses connections', name: 'refusing', message: UNREACHABLE },
  { what: 'takes no connection', name: 'deaf', message: UNREACHABLE },
  { what: 'resets connections', name: 'resetting', message: RESET },
] as const;

beforeAll(async () => {
  const ports: Record<string, number> = {
    refusing: await findFreePort(),
    deaf: await startDeafServer(cleanUp),
    resetting: await startResettingServer(),
  };
  gateway = await startGateway({ config: encodeConfig(ports), cleanUp });
});

describe.each(CASES)('an upstream that $what', ({ name, message }) => {
  it.each([
    { format: 'native', isStream: false, type: 'api_error' },
    { format: 'chat', isStream: true, type: 'server_error' },
  ] as const)(
    'is a 502 for $format clients in the end, and nothing is charged',
    async ({ format, isStream, type }) => {
      const operator = admin(gateway);
      const account = await operator.createAccount();
      const { id, key } = await operator.createKey(account);
      resets = 0;
      const model = `${name}-${format}`;
      const told = await askGateway({ url: gateway.url, key, model, format, isStream });
      expect(told).toMatchObject({ status: 502, error: { type } });
      expect(told.error?.message).toMatch(message);
      expect(resets).toBe(name === 'resetting' ? 3 : 0);
      await operator.waitUntilSettled(account);
      expect((await operator.key(id)).spent_this_month).toBe(0);
    },
  );

  it('is replaced by the next one', async () => {
    resets = 0;
    const question = { url: gateway.url, key: gateway.key(), model: `${name}-or-next` };
    const told = await askGateway({ ...question, format: 'native', isStream: true });
    expect(told).toMatchObject({ status: 200, isComplete: true });
    expect(resets).toBe(name === 'resetting' ? 1 : 0);
  });
});

async function startResettingServer(): Promise<number> {
  const server = createServer((socket) => {
    resets += 1;
    socket.on('error', () => {});
    socket.resetAndDestroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUp(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Every test has its own upstream, since each upstream has its own health. */
function encodeConfig(ports: Readonly<Record<string, number>>): string {
  const rest = 'max_output_tokens: 1000, price: {input: 1, output: 5}';
  const places = Object.entries(ports).flatMap(([name, port]) =>
    [`${name}-native`, `${name}-chat`, `${name}-or-next`].map((place) => ({ place, port })),
  );
  return [
    'workers: 1',
    'models:',
    ...places.map(({ place }) => {
      const more = place.endsWith('-or-next') ? `, {upstream: ${NEXT}, priority: 2}` : '';
      return `  - {id: ${place}, ${rest}, routes: [{upstream: ${place}}${more}]}`;
    }),
    'upstreams:',
    `  - {name: ${NEXT}, kind: simulated, simulated: {tokens_per_second: 0, latency: 1ms}}`,
    ...places.map(({ place, port }) => {
      const url = `http://127.0.0.1:${port}`;
      // Where connections are taken, a slow machine may need longer.
      const connectMs = port === ports['deaf'] ? 300 : 30_000;
      const timeouts = `{connect: ${connectMs}ms, first_byte: 60s, idle: 60s, total: 60s}`;
      return `  - {name: ${place}, kind: native, url: "${url}", timeouts: ${timeouts}}`;
    }),
    '',
  ].join('\n');
}
