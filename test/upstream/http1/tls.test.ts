import { beforeAll, describe, expect, it } from 'vitest';
import type { TlsOptions } from '../../../src/upstream/http1/open-socket.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { createIdentity, type Identity } from './create-identity.ts';
import { type Peer, type RawServer, startRawServer } from './start-raw-server.ts';
import { ask, GET, post, tell, useClient } from './use-client.ts';
import { waitUntilQuiet } from './wait-until-quiet.ts';

const HEAD = 'HTTP/1.1 200 OK\r\n';
const OK = `${HEAD}content-length: 2\r\n\r\nok`;
const answer = (peer: Peer) => void peer.send(OK);

let address: Identity;
let name: Identity;

beforeAll(() => {
  address = createIdentity('IP:127.0.0.1');
  name = createIdentity('DNS:models.example.com');
});

function useTlsClient({ port }: RawServer, tls?: TlsOptions, host = '127.0.0.1') {
  const origin = { protocol: 'https:', host, port } as const;
  return useClient(port, { origin, ...(tls && { tls }) });
}

describe('a client of an https origin', () => {
  it('talks to a server whose certificate it trusts, and keeps the connection', async () => {
    const server = await startRawServer({ tls: address, onRequest: answer });
    const client = useTlsClient(server, { ca: address.cert });
    expect((await ask(client)).body()).toBe('ok');
    expect((await ask(client, post(Buffer.alloc(5_000_000)))).body()).toBe('ok');
    expect(server.peers).toHaveLength(1);
    // An address is not a valid server name.
    expect(server.peers[0]?.socket).toMatchObject({ servername: false });
  });

  it('asks for HTTP/1.1 and takes the name of the certificate from its settings', async () => {
    const server = await startRawServer({
      tls: { ...name, ALPNProtocols: ['h2', 'http/1.1'] },
      onRequest: answer,
    });
    const servername = 'models.example.com';
    const told = await ask(useTlsClient(server, { ca: name.cert, servername }));
    expect(told.body()).toBe('ok');
    expect(server.peers[0]?.socket).toMatchObject({ alpnProtocol: 'http/1.1', servername });
  });

  const refusals: readonly [string, () => Identity, () => TlsOptions | undefined][] = [
    ['that nobody has signed', () => address, () => undefined],
    ['of another authority', () => address, () => ({ ca: name.cert })],
    ['for another name', () => name, () => ({ ca: name.cert })],
  ];
  for (const [what, identity, tls] of refusals) {
    it(`refuses a certificate ${what} before it sends anything`, async () => {
      const server = await startRawServer({ tls: identity(), onRequest: answer });
      const told = await ask(useTlsClient(server, tls()));
      expect(told.events).toEqual(['fail tls_failed']);
      expect(told.failure()?.isSafeToRepeat).toBe(true);
      expect(server.peers.map((peer) => peer.received()).join('')).toBe('');
    });
  }

  it('fails on a server that does not talk TLS, or hangs up', async () => {
    for (const greet of [
      (peer: Peer) => void peer.send(OK),
      (peer: Peer) => void peer.socket.end(),
    ]) {
      const server = await startRawServer({ onConnection: greet });
      const told = await ask(useTlsClient(server, { ca: address.cert }));
      expect(told.events).toEqual(['fail tls_failed']);
    }
  });

  it('distinguishes what was cut off from what is complete', async () => {
    const texts = [`${HEAD}content-length: 9\r\n\r\nhello`, `${HEAD}\r\nhello`];
    const server = await startRawServer({
      tls: address,
      onRequest: (peer) => void peer.send(texts.shift() ?? '').then(() => peer.socket.end()),
    });
    const client = useTlsClient(server, { ca: address.cert });
    expect((await ask(client)).events.at(-1)).toBe('fail truncated');
    const complete = await ask(client);
    expect([complete.body(), complete.events.at(-1)]).toEqual(['hello', 'end']);
  });

  it('connects though the exchange is paused, and emits nothing', async () => {
    const server = await startRawServer({ tls: address, onRequest: answer });
    const told = tell(useTlsClient(server, { ca: address.cert }), GET);
    told.exchange.pause();
    await server.waitForRequests(1);
    expect(told.events).toEqual([]);
    told.exchange.resume();
    await told.waitForOver();
    expect(told.events).toEqual(['head', 'data', 'end']);
  });

  it('makes the server wait while an exchange is paused, and loses nothing', async () => {
    const bytes = 50 * 1024 * 1024;
    let sent = 0;
    const server = await startRawServer({
      tls: address,
      onRequest: ({ socket }) => {
        socket.write(`${HEAD}content-length: ${bytes}\r\n\r\n`);
        const piece = Buffer.alloc(64 * 1024, 'x');
        const goOn = () => {
          while (sent < bytes) {
            sent += piece.length;
            if (!socket.write(piece)) return;
          }
          socket.end();
        };
        socket.on('drain', goOn);
        goOn();
      },
    });
    let pauses = 0;
    const told = tell(useTlsClient(server, { ca: address.cert }), GET, (event, exchange) => {
      if (event !== 'data' || pauses > 3) return;
      pauses += 1;
      exchange.pause();
    });
    for (let pause = 1; pause <= 4; pause++) {
      await waitUntil(() => pauses === pause, 'it is paused');
      await waitUntilQuiet(() => sent);
      expect(told.events).toHaveLength(1 + pause);
      expect(sent).toBeLessThan(bytes / 2);
      told.exchange.resume();
    }
    await told.waitForOver();
    expect([told.events.at(-1), told.body().length]).toEqual(['end', bytes]);
  });
});
