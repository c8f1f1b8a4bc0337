import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createHostLookup } from '../../../../src/events/webhooks/create-host-lookup.ts';
import type { Address } from '../../../../src/events/webhooks/find-addresses.ts';
import { postWebhook } from '../../../../src/events/webhooks/post-webhook.ts';
import { Secret } from '../../../../src/lib/secret.ts';
import { useCleanUp } from '../../../support/use-clean-up.ts';
import { startReceiver } from '../../../support/webhooks/start-receiver.ts';
import { createIdentity } from '../../../upstream/http1/create-identity.ts';

const cleanUp = useCleanUp();
const LOOPBACK = { address: '127.0.0.0', bits: 8, family: 4 } as const;
const message = { id: 'evt_1', body: '{"type":"webhook.test","timestamp":"","data":{}}' };

interface PostParts {
  readonly port: number;
  readonly scheme?: 'http' | 'https';
  readonly answers?: readonly (readonly Address[])[];
  readonly hosts?: readonly string[];
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

const SHORT_MS = 300;

/** Posts to a name that nobody has, with what each lookup of it answers. */
async function post(parts: PostParts) {
  const { port, scheme = 'http', answers = [], hosts = ['hooks.test'], ...others } = parts;
  let lookups = 0;
  const end = await postWebhook(
    {
      ...{ name: 'all', url: `${scheme}://hooks.test:${port}/`, events: [] },
      secrets: [new Secret(`whsec_${Buffer.alloc(24).toString('base64')}`)],
    },
    message,
    {
      rules: { hosts, privateNetworks: [LOOPBACK] },
      resolve: async () => answers[lookups++] ?? [{ address: '127.0.0.1', family: 4 }],
      ...{ nowMs: 0, userAgent: 'test' },
      signal: new AbortController().signal,
      ...others,
    },
  );
  return { end, lookups };
}

describe('a webhook', () => {
  it('goes to the address that was checked, whatever the name says later', async () => {
    const { port, received } = await startReceiver(cleanUp);
    const later = [{ address: '169.254.169.254', family: 4 }] as const;
    const allowed = [{ address: '127.0.0.1', family: 4 }] as const;
    const { end, lookups } = await post({ port, answers: [allowed, later] });
    expect(end).toEqual({ kind: 'delivered', status: 204 });
    expect(lookups).toBe(1);
    expect(received[0]?.headers['host']).toBe(`hooks.test:${port}`);
    const rebound = await post({ port, answers: [later, allowed] });
    expect(rebound.end).toMatchObject({
      kind: 'failed',
      reason: expect.stringContaining('169.254.169.254 is not public'),
    });
    expect(received).toHaveLength(1);
  });

  it('goes to no server whose certificate is not trusted, whatever the environment says', async () => {
    const posted: string[] = [];
    const server = createServer(createIdentity('DNS:hooks.test'), ({ url }, response) => {
      posted.push(url ?? '');
      response.end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => {
      vi.unstubAllEnvs();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const { end } = await post({ port, scheme: 'https' });
    expect(end).toMatchObject({ kind: 'failed' });
    expect(posted).toEqual([]);
  });

  it('goes to no host that the settings do not name', async () => {
    const { port, received } = await startReceiver(cleanUp);
    const { end, lookups } = await post({ port, hosts: ['other.test'] });
    expect(end).toMatchObject({ reason: 'webhooks.hosts does not name hooks.test' });
    expect(lookups + received.length).toBe(0);
  });

  it('fails when the receiver does not answer in time, closes or redirects', async () => {
    const receiver = await startReceiver(cleanUp);
    const { port } = receiver;
    receiver.answer(() => {});
    const late = await post({ port, timeoutMs: SHORT_MS });
    expect(late.end).toMatchObject({ reason: 'no answer within 0.3 s' });
    receiver.answer((response) => response.destroy());
    expect((await post({ port })).end).toMatchObject({ kind: 'failed', status: undefined });
    receiver.answer((response) => response.writeHead(302, { location: '/other' }).end());
    expect((await post({ port })).end).toMatchObject({ kind: 'failed', status: 302 });
    expect(receiver.received).toHaveLength(3);
  });

  it('fails when the receiver wants to speak another protocol', async () => {
    const receiver = await startReceiver(cleanUp);
    receiver.answer((response) =>
      response.writeHead(101, { connection: 'upgrade', upgrade: 'other' }).end(),
    );
    expect((await post({ port: receiver.port })).end).toMatchObject({ kind: 'failed' });
  });

  it('reads no answer to its end', async () => {
    const receiver = await startReceiver(cleanUp);
    let isClosed = false;
    receiver.answer((response) => {
      response.on('close', () => {
        isClosed = true;
      });
      response.writeHead(200).write('x'.repeat(1_000));
    });
    expect((await post({ port: receiver.port })).end).toMatchObject({ kind: 'delivered' });
    await expect.poll(() => isClosed).toBe(true);
  });

  it('has no end that is known if the node stops', async () => {
    const receiver = await startReceiver(cleanUp);
    const leaving = new AbortController();
    receiver.answer(() => leaving.abort());
    expect((await post({ port: receiver.port, signal: leaving.signal })).end).toBeUndefined();
  });
});

it('a lookup finds what the system finds, and says when there is nothing', async () => {
  const lookUp = createHostLookup();
  const names = Array.from({ length: 6 }, (_, i) => `nobody-${i}.invalid`);
  const found = await Promise.allSettled([...names, 'localhost', 'localhost'].map(lookUp));
  expect(found.map(({ status }) => status)).toEqual([
    ...names.map(() => 'rejected'),
    ...['fulfilled', 'fulfilled'],
  ]);
});
